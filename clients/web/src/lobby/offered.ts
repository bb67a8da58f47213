/** The hall's data about a game before it is loaded, and the wishes that fit the game. */
import type { Catalogue } from "towerhall-client";

import { isMap } from "../app/kept";
import { hasGame } from "../games";

/** All levels of bots that there are (P-55). A game may have fewer. */
const LEVELS = ["easy", "medium", "hard"];

export interface Offered {
  name: string;
  seats: [least: number, most: number];
  levels: string[];
}

/** Before the service has answered for the first time. */
export function unasked(name: string): Offered {
  return { name, seats: [2, 4], levels: LEVELS };
}

/** The levels of a game's bots, weakest first; all that there are as long as the service has not told. */
export function levelsOf(catalogue: Catalogue | null, game: string): readonly string[] {
  return catalogue?.games.find(({ name }) => name === game)?.levels ?? LEVELS;
}

/** Games that this page has pictures for come first; apart from that the order of the service stays. */
export function inOrder(games: readonly Offered[]): Offered[] {
  return [...games].sort((a, b) => Number(hasGame(b.name)) - Number(hasGame(a.name)));
}

/** Table sizes for people and bots together. */
export function sizesOf({ seats: [least, most] }: Offered): number[] {
  const first = Math.min(Math.max(least, 2), most);
  return Array.from({ length: most - first + 1 }, (_, at) => first + at);
}

/** The nearest size that the game has. */
export function sizeFor(game: Offered, wanted: number): number {
  const sizes = sizesOf(game);
  return Math.min(sizes.at(-1)!, Math.max(sizes[0]!, wanted));
}

/** The wanted level; a game without it gets the middle one of its own, as for stand-ins. */
export function levelFor({ levels }: Offered, wanted: string): string {
  return levels.includes(wanted) ? wanted : (levels[Math.floor(levels.length / 2)] ?? wanted);
}

export function isOffered(value: unknown): value is Offered {
  if (!isMap(value)) return false;
  const { name, seats, levels } = value;
  const isRange = Array.isArray(seats) && seats.length === 2 && seats.every(Number.isInteger) && seats[0] <= seats[1];
  return typeof name === "string" && isRange && Array.isArray(levels) && levels.every((level) => typeof level === "string");
}
