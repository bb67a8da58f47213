/** Filters and pages of a history. Pure. */
import type { PastGame, PastGamesWish, Profile } from "towerhall-client";

/** An empty game and 0 seats stand for all. */
export interface Filter {
  game: string;
  seats: number;
}

export const ALL: Filter = { game: "", seats: 0 };

type Statistics = Profile["statistics"];

/** Games that a person has finished. */
export function gamesOf(statistics: Statistics): string[] {
  return [...new Set(statistics.map(({ game }) => game))];
}

/** Numbers of seats that occur with the chosen game. */
export function seatsOf(statistics: Statistics, game: string): number[] {
  const seats = statistics.filter((each) => !game || each.game === game).map((each) => each.seats);
  return [...new Set(seats)].sort((a, b) => a - b);
}

/** The filter with another game: a number of seats that never occurs with it is dropped. */
export function withGame(filter: Filter, game: string, statistics: Statistics): Filter {
  return { game, seats: seatsOf(statistics, game).includes(filter.seats) ? filter.seats : 0 };
}

/** The next page of a history. */
export function wishOf({ game, seats }: Filter, before?: number): PastGamesWish {
  return { ...(game ? { game } : {}), ...(seats ? { seats } : {}), ...(before === undefined ? {} : { before }) };
}

/** Pages joined: a game that has ended meanwhile does not come twice. */
export function joined(games: readonly PastGame[], more: readonly PastGame[]): PastGame[] {
  const known = new Set(games.map(({ number }) => number));
  return [...games, ...more.filter(({ number }) => !known.has(number))];
}

/** Seats of a game by place. */
export function byPlace(game: PastGame): PastGame["seats"] {
  return [...game.seats].sort((a, b) => a.place - b.place);
}

/** All finished games, and those that ended at the first place. */
export function totals(statistics: Statistics): { games: number; wins: number } {
  const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);
  return { games: sum(statistics.map(({ games }) => games)), wins: sum(statistics.map(({ places }) => places[0] ?? 0)) };
}
