/** What a frame did to a tower, for the eye only: which block came, and which ones fell. */
import type { Fact, Value } from "towerhall-client";

import { readPlacement } from "./notation";
import type { Game } from "./game";
import type { Block } from "./tower";

export interface News {
  seat: number;
  placed: Block;
  /** Rounds of blocks that fell, one after the other; the new block may be among them. */
  fallen: Block[][];
}

/** Null unless a block was placed. The tower was as `before` shows it. */
export function newsOf(facts: readonly Fact[], before: Game | null): News | null {
  const [, seat, text] = facts.findLast(([name]) => name === "block_placed") ?? [];
  const placement = readPlacement(String(text));
  if (!before || !placement || typeof seat !== "number") return null;
  const placed = { ...placement, turn: before.turns };
  const all = new Map([...(before.towers[seat]?.blocks ?? []), placed].map((block) => [block.turn, block]));
  const [, fell, rounds] = facts.findLast(([name]) => name === "tower_collapsed") ?? [];
  const turns = fell === seat && Array.isArray(rounds) ? rounds.map(list) : [];
  return { seat, placed, fallen: turns.map((round) => round.flatMap((turn) => all.get(Number(turn)) ?? [])) };
}

function list(value: Value): Value[] {
  return Array.isArray(value) ? value : [];
}
