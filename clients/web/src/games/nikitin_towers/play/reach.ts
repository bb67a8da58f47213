/** The moves that the offers allow: which blocks may be given, and over which columns a shape may be dropped. */
import type { Offer } from "towerhall-client";

import { orientationsOf, sizeOf, type Cubes } from "./blocks";
import type { Placement } from "./notation";
import { MAT, restOf } from "./tower";

interface Rectangle {
  x: readonly [number, number];
  y: readonly [number, number];
}

export interface Offered {
  roll: boolean;
  giveBack: boolean;
  /** Blocks that may be given to the builder. */
  blocks: string[];
  /** Columns by shape; null unless a block has to be placed. */
  columns: ReadonlyMap<string, readonly Rectangle[]> | null;
}

export function readOffers(offers: readonly Offer[]): Offered {
  const columns = new Map<string, Rectangle[]>();
  const placing = offers.filter((offer) => offer.command === "place");
  for (const { ranges, choices = [] } of placing) {
    const rectangle: Rectangle = { x: ranges?.["x"] ?? [0, 0], y: ranges?.["y"] ?? [0, 0] };
    for (const [{ shape }] of choices) columns.set(String(shape), [...(columns.get(String(shape)) ?? []), rectangle]);
  }
  const has = (command: string) => offers.some((offer) => offer.command === command);
  const choosing = offers.find((offer) => offer.command === "choose");
  return {
    roll: has("roll"),
    giveBack: has("give_back"),
    blocks: (choosing?.choices ?? []).map(([{ block }]) => String(block)).sort(),
    columns: placing.length || has("give_back") ? columns : null,
  };
}

export function isOffered(offered: Offered, held: Pick<Placement, "kind" | "orientation" | "x" | "y">): boolean {
  const rectangles = offered.columns?.get(`${held.kind}.${held.orientation}`) ?? [];
  return rectangles.some(({ x, y }) => within(held.x, x) && within(held.y, y));
}

/** A place to begin with: near the middle of the mat, low, the block lying flat; offered if any is. */
export function firstPlace(offered: Offered, kind: string, heights: ReadonlyMap<string, number>): Placement {
  let best: Placement | null = null;
  let least = Infinity;
  orientationsOf(kind).forEach((cubes, index) => {
    for (const { x, y } of offered.columns?.get(`${kind}.${index + 1}`) ?? [])
      for (let column = x[0]; column <= x[1]; column += 1)
        for (let row = y[0]; row <= y[1]; row += 1) {
          const held = { kind, orientation: index + 1, x: column, y: row };
          const z = restOf(heights, held);
          const [dx, dy] = offCentre(cubes, column, row);
          const cost = 4 * Math.hypot(dx, dy) + z + 2 * tall(cubes);
          if (cost < least) [best, least] = [{ ...held, z }, cost];
        }
  });
  if (best) return best;
  const held = { kind, orientation: 1, x: 0, y: 0 };
  return { ...held, z: restOf(heights, held) };
}

/** How far the middle of the shape is from the middle of the mat. */
function offCentre(cubes: Cubes, x: number, y: number): [number, number] {
  const mean = (axis: 0 | 1) => cubes.reduce((sum, cube) => sum + cube[axis], 0) / cubes.length;
  return [mean(0) + x - (MAT - 1) / 2, mean(1) + y - (MAT - 1) / 2];
}

function tall(cubes: Cubes): number {
  return Math.max(...cubes.map(([, , z]) => z));
}

function within(value: number, [least, most]: readonly [number, number]): boolean {
  return least <= value && value <= most;
}

/** Blocks of that size in the pile, sorted, each as often as it is there. */
export function ofSize(pile: ReadonlyMap<string, number>, size: number): string[] {
  return [...pile].filter(([kind]) => sizeOf(kind) === size).sort().flatMap(([kind, count]) => new Array<string>(count).fill(kind));
}
