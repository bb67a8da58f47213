/** What another person is to this one, and whose page follows on a leaderboard. Pure. */
import type { People } from "towerhall-client";

export type Relation = "friend" | "asked" | "asking" | "blocked" | "none";

export function relationTo(lists: People | null, handle: string): Relation {
  const has = (list: { handle: string }[] | undefined) => list?.some((each) => each.handle === handle) ?? false;
  if (has(lists?.blocked)) return "blocked";
  if (has(lists?.friends)) return "friend";
  if (has(lists?.asking)) return "asking";
  return has(lists?.asked) ? "asked" : "none";
}

/** Rows of a leaderboard on one page. */
export const ROWS = 20;

/** The first rank of the page on which a rank stands. */
export function pageOf(rank: number): number {
  return Math.floor((Math.max(1, rank) - 1) / ROWS) * ROWS + 1;
}

/** A number from 0 to 4 for the colour of a person; the same on each visit. */
export function colourOf(handle: string): number {
  let sum = 0;
  for (const letter of handle) sum = (sum * 31 + letter.codePointAt(0)!) % 9973;
  return sum % 5;
}
