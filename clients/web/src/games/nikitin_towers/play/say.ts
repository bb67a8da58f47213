/** Blocks, levels and facts in words: keys of the catalogue and what fills them. */
import type { Fact, Value } from "towerhall-client";

import { word } from "../../../words/index.svelte";
import { nameOf, sayOf, type Said, type Telling } from "../../said";
import { readPlacement } from "./notation";
import type { Tower } from "./game";
import { cells } from "./tower";

/** What became of a tower weighs more than the block and the die that led to it. */
export const HEADLINES = ["game_ended", "tower_collapsed", "block_returned", "block_placed", "block_chosen", "die_rolled", "game_started"] as const;

/** `T (4)`: the nickname, and how many cubes. */
export function blockName(kind: string): string {
  return word(`nikitin_towers.block.${kind}`) ?? kind;
}

/** What lies on a level: `Level 3: T, cube. Ring 6 of 8.` */
export function levelWords(tower: Tower, level: number, rim: number): string {
  const kinds = new Map(cells(tower.blocks).filter(({ at }) => at[2] === level - 1).map(({ block }) => [block.turn, block.kind]));
  const blocks = [...kinds.values()].map(blockName).join(", ");
  return word(blocks ? "nikitin_towers.grid.level" : "nikitin_towers.grid.level.empty", { level, blocks, rim }) ?? "";
}

export function say([fact, ...fields]: Fact, telling: Telling): Said | null {
  const [first, second, third] = fields;
  const key = (name: string) => `nikitin_towers.log.${name}`;
  const told = (params: Said["params"], name: string = fact, seat = first): Said => sayOf(seat, telling, key(name), params);
  switch (fact) {
    case "game_started":
      return told({ rolls: openingRolls(third, telling) }, fact, fields[3]);
    case "die_rolled":
      return rolled(Number(third), Number(fields[3]), told);
    case "block_chosen": {
      const block = blockName(String(second));
      if (third === "forced") return { key: key("block_chosen_forced"), params: { block } };
      return told({ block }, third === "lot" ? "block_chosen_lot" : fact);
    }
    case "block_placed": {
      const placed = readPlacement(String(second));
      return told({ block: blockName(placed?.kind ?? ""), level: (placed?.z ?? 0) + 1, n: Number(third) });
    }
    case "tower_collapsed":
      return told({ n: countOf(second), height: Number(third) });
    case "block_returned":
      return told({ block: blockName(String(second)) }, third === "time" ? "block_returned_time" : fact);
    case "game_ended":
      return ended(String(first), second, third, telling);
    default:
      return null;
  }
}

function rolled(die: number, size: number, told: (params: Said["params"], name: string) => Said): Said {
  if (size === 0) return told({ die }, "die_rolled_empty");
  return told({ die, size }, size === die ? "die_rolled" : "die_rolled_less");
}

/** In a list, the viewer is called "you" as well. */
function listed(seat: number, telling: Telling): string {
  return (seat === telling.seat && word("nikitin_towers.you")) || nameOf(seat, telling);
}

/** `Ada 6, Ben 6; Ada 3, Ben 5`. */
function openingRolls(rounds: Value | undefined, telling: Telling): string {
  if (!Array.isArray(rounds)) return "";
  const round = (rolls: Value) => (Array.isArray(rolls) ? rolls.flatMap((die, seat) => (Number(die) > 0 ? [`${listed(seat, telling)} ${String(die)}`] : [])).join(", ") : "");
  return rounds.map(round).join("; ");
}

function countOf(rounds: Value | undefined): number {
  return Array.isArray(rounds) ? rounds.reduce<number>((sum, round) => sum + (Array.isArray(round) ? round.length : 0), 0) : 0;
}

/** Who has won is the room's to tell; why it is over is the game's. */
function ended(why: string, heights: Value | undefined, rings: Value | undefined, telling: Telling): Said {
  const list = (values: Value | undefined) => (Array.isArray(values) ? values.map((value, seat) => `${listed(seat, telling)} ${String(value)}`).join(", ") : "");
  return { key: `nikitin_towers.log.game_ended_${why}`, params: { heights: list(heights), rings: list(rings) } };
}
