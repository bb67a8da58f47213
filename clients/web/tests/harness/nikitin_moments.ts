/** Towers that stand on paper: blocks put low and near the middle, one after the other. No judge of statics is asked. */
import type { Document, Offer } from "towerhall-client";

import { cubesOf, orientationsOf } from "../../src/games/nikitin_towers/play/blocks";
import { cellsOf, writePlacement, type Placement } from "../../src/games/nikitin_towers/play/notation";
import { restOf, rims, tops } from "../../src/games/nikitin_towers/play/tower";

export interface Asked {
  seats: number;
  /** Blocks on each mat. */
  blocks: number;
  phase: string;
  turn: number;
  block: string;
  size: number;
  win: string;
}

const KINDS = ["D2", "C1", "E4", "B1", "F1", "C2", "A1", "D4", "E1", "B1", "F6", "C1", "D6", "A1", "E5", "B1", "F4", "C2", "D5", "E2"];

export function moment(asked: Asked): { view: Document; offers: Offer[] } {
  const placed = Array.from({ length: asked.seats }, (_, seat) => blocksOf(seat, asked.blocks - (asked.blocks > 16 ? 0 : seat * 3)));
  const towers = Object.fromEntries(placed.map((blocks, seat) => [String(seat), towerOf(seat, blocks)]));
  const over = asked.phase === "over";
  const game = {
    options: { win: asked.win, lean: "normal", auto_roll: true },
    phase: asked.phase,
    ...(over ? { end: "pile" } : { turn: asked.turn, to_act: asked.phase === "choose" ? (asked.turn + 1) % asked.seats : asked.turn }),
    turns: 61,
    ...(asked.phase === "roll" || over ? {} : { die: asked.size, size: asked.size }),
    ...(asked.phase === "place" ? { block: asked.block } : {}),
    pile: { A1: 4, B1: 3, C1: 1, C2: 2, D1: 1, D3: 1, D4: 1, D5: 1, D6: 1, E2: 1, E3: 1, E5: 1, E6: 1, F2: 1, F3: 1, F5: 1 },
    quiet: 3,
    towers,
  };
  const seats = Object.fromEntries(Array.from({ length: asked.seats }, (_, seat) => [String(seat), { name: `${seat}` }]));
  return { view: { room: { seats, status: over ? "over" : "playing", game: "nikitin_towers" }, game: game as unknown as Document }, offers: offersOf(asked, placed[asked.turn] ?? []) };
}

function offersOf({ phase, block, size }: Asked, tower: readonly Placement[]): Offer[] {
  if (phase === "roll") return [{ command: "roll" }];
  if (phase === "choose") return [{ command: "choose", choices: "123456".split("").map((number) => [{ block: `${"ABCDEF"[size - 1]}${number}` }, {}]) }];
  if (phase !== "place") return [];
  const heights = tops(tower);
  const filled = new Set(tower.flatMap(cellsOf).map((cell) => cell.join()));
  const offers: Offer[] = [];
  orientationsOf(block).forEach((_, index) => {
    for (let x = -4; x <= 5; x += 1)
      for (let y = -4; y <= 5; y += 1) {
        const held = { kind: block, orientation: index + 1, x, y };
        const cells = cellsOf({ ...held, z: restOf(heights, held) });
        const isLow = cells.some(([a, b, c]) => c === 0 && (a < 0 || b < 0 || a > 2 || b > 2));
        if (isLow || !cells.some(([a, b, c]) => c === 0 || filled.has([a, b, c - 1].join()))) continue;
        offers.push({ command: "place", ranges: { x: [x, x], y: [y, y] }, choices: [[{ shape: `${block}.${index + 1}` }, {}]] });
      }
  });
  return [...offers, { command: "give_back", unsure: true }];
}

function blocksOf(seat: number, count: number): Placement[] {
  const placed: Placement[] = [];
  for (let number = 0; number < count; number += 1) placed.push(lowest(KINDS[(number + seat * 5) % KINDS.length]!, placed));
  return placed;
}

function towerOf(seat: number, placed: readonly Placement[]): Document {
  const cells = placed.flatMap(cellsOf);
  const height = Math.max(0, ...cells.map(([, , z]) => z + 1));
  const ring = rims(cells, height).lastIndexOf(8) + 1;
  const blocks = Object.fromEntries(placed.map((placement, index) => [String(1 + seat + index * 3), writePlacement(placement)]));
  return { blocks, height, ring };
}

function lowest(kind: string, placed: readonly Placement[]): Placement {
  const heights = tops(placed);
  let [best, least]: [Placement | null, number] = [null, Infinity];
  orientationsOf(kind).forEach((_, index) => {
    for (let x = -1; x <= 2; x += 1)
      for (let y = -1; y <= 2; y += 1) {
        const held = { kind, orientation: index + 1, x, y };
        const z = restOf(heights, held);
        const cells = cellsOf({ ...held, z });
        if (cells.some(([a, b, c]) => c === 0 && (a < 0 || b < 0 || a > 2 || b > 2))) continue;
        const centre = [0, 1].map((axis) => cells.reduce((sum, cell) => sum + cell[axis]! / cells.length, 0));
        const hollow = cells.filter(([a, b, c]) => c > (heights.get(`${a},${b}`) ?? 0) && !cells.some((other) => other[0] === a && other[1] === b && other[2] < c)).length;
        const cost = z * 1.2 + Math.hypot(centre[0]! - 1, centre[1]! - 1) + hollow * 1.5 + Math.max(...(cubesOf(kind, index + 1) ?? []).map(([, , c]) => c)) * 0.8;
        if (cost < least) [best, least] = [{ ...held, z }, cost];
      }
  });
  return best!;
}
