/** The person's choices in the hall: a game, opponents, the size of a quick table. This browser remembers it. */
import type { GameDescription } from "towerhall-client";

import { isMap, keep, kept } from "../app/kept";
import { gameNames } from "../games";
import { newcomer } from "../app/newcomer.svelte";
import { PACES, type Pace } from "./options";
import { inOrder, isOffered, levelFor, sizeFor, sizesOf, unasked, type Offered } from "./offered";

/** Seconds for a decision in a quick match: an opponent who leaves must not block the game. */
export const QUICK_SECONDS = { fast: 30, relaxed: 120 } as const;
export type QuickClock = keyof typeof QUICK_SECONDS;

/** Seats of the largest game in which bots are slow unasked. */
const MOST_SLOW = 3;

class Choice {
  #games = $state.raw<readonly Offered[]>(kept("games", gameNames().map(unasked), isList));
  #wanted = $state.raw({ game: "", bots: 2, level: "medium", players: 2, clock: "fast", pace: "", ...kept<Record<string, unknown>>("opponents", {}, isWish) });

  readonly games = $derived(inOrder(this.#games));
  readonly game = $derived(this.games.find(({ name }) => name === this.#wanted.game) ?? this.games[0] ?? unasked(""));
  readonly sizes = $derived(sizesOf(this.game));
  /** Seats of a game against bots. */
  readonly seats = $derived(sizeFor(this.game, this.#wanted.bots + 1));
  readonly players = $derived(sizeFor(this.game, this.#wanted.players));
  readonly level = $derived(levelFor(this.game, this.#wanted.level));

  readonly clock = $derived<QuickClock>(this.#wanted.clock === "relaxed" ? "relaxed" : "fast");

  /** The pace of bots: the person's choice. In a first game of its kind they are slow, unless there are so many that a round would take half a minute. */
  readonly pace = $derived(this.#chosenPace());

  /** The games that the service has. */
  offer(games: readonly GameDescription[]): void {
    this.#games = games.map(({ name, seats, levels }) => ({ name, seats, levels }));
    keep("games", this.#games);
  }

  #chosenPace(): Pace {
    const chosen = (Object.keys(PACES) as Pace[]).find((pace) => pace === this.#wanted.pace);
    return chosen ?? (newcomer.isFirstGame(this.game.name) && this.seats <= MOST_SLOW ? "relaxed" : "usual");
  }

  want(part: Partial<{ game: string; bots: number; level: string; players: number; clock: QuickClock; pace: Pace }>): void {
    this.#wanted = { ...this.#wanted, ...part };
    keep("opponents", this.#wanted);
  }
}

function isList(value: unknown): value is Offered[] {
  return Array.isArray(value) && value.length > 0 && value.every(isOffered);
}

function isWish(value: unknown): value is Record<string, unknown> {
  const types: Record<string, string> = { game: "string", bots: "number", level: "string", players: "number", clock: "string", pace: "string" };
  return isMap(value) && Object.entries(value).every(([name, each]) => typeof each === types[name]);
}

export const choice = new Choice();
