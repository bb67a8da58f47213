/**
 * Whether the cards that were shown are those that were drawn (FT 3 and 9). That the draws themselves follow from the seed is
 * checked for every game alike; here is what they mean in Five Towers.
 */
import type { Check, Draw, Fact, GameRecord } from "towerhall-client";

import { KINDS } from "./play/cards";

const COPIED = [0, 2, 5, 7, 10, 12];

/** All cards of a game with that many seats (FT 2). */
export function deckOf(seats: number): string[] {
  const values = Array.from({ length: 16 }, (_, value) => String(value));
  const copies = seats > 3 ? COPIED.map((value) => `${value}+`) : [];
  return KINDS.flatMap((kind) => [...values, ...copies].map((value) => `${kind}:${value}`));
}

/** What the frames showed: the cards by lap, in order, what was discarded in the first lap, and who started. */
interface Shown {
  start: number;
  laps: [string[], string[]];
  discarded: string[];
  reshuffled: boolean;
}

export async function checkDraws(record: GameRecord): Promise<Check> {
  const shown = whatWasShown(record.frames.flatMap((frame) => frame.facts));
  const deal = record.proof.deals.findLast((each) => each.outcome === "dealt")?.deal;
  if (!shown || deal === undefined) return { name: "cards", ok: true, detail: {} };
  const draws = record.draws.filter((draw) => draw[0] === deal);
  const first = shuffled(draws, 0);
  const start = draws.find((draw) => draw[1] === 1 && draw[2] === "below");
  const second = shuffled(draws, 2);
  const faults = [
    same(sorted(first?.items), sorted(deckOf(record.seats.length))) || "deck",
    begins(first?.result ?? [], shown.laps[0]) || "first_pile",
    (start?.[3] === record.seats.length && start[4] === shown.start) || "start",
    !shown.reshuffled || shown.discarded.length === 0 || same(sorted(second?.items), sorted(shown.discarded)) || "discarded",
    begins(second?.result ?? [], shown.laps[1]) || "second_pile",
  ].filter((fault) => fault !== true);
  return {
    name: "cards",
    ok: faults.length === 0,
    detail: { faults: faults as string[], start: shown.start + 1, first_pile: shown.laps[0], second_pile: shown.laps[1] },
  };
}

function whatWasShown(facts: readonly Fact[]): Shown | null {
  const began = facts.findLastIndex(([name]) => name === "game_started");
  if (began < 0) return null;
  const shown: Shown = { start: Number(facts[began]![4]), laps: [[], []], discarded: [], reshuffled: false };
  for (const [name, first, , third] of facts.slice(began)) {
    if (name === "round_started") shown.laps[shown.reshuffled ? 1 : 0].push(...(third as string[]));
    if (name === "display_cleared" && !shown.reshuffled) shown.discarded.push(...(first as string[]));
    if (name === "pile_reshuffled") shown.reshuffled = true;
  }
  return shown;
}

function shuffled(draws: readonly Draw[], act: number): { items: string[]; result: string[] } | null {
  const draw = draws.find((each) => each[1] === act && each[2] === "shuffle");
  return draw ? { items: (draw[3] as string[]).map(String), result: (draw[4] as string[]).map(String) } : null;
}

function sorted(cards: readonly string[] = []): string[] {
  return [...cards].sort();
}

function begins(whole: readonly string[], start: readonly string[]): boolean {
  return start.length <= whole.length && start.every((card, index) => card === whole[index]);
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && begins(one, other);
}
