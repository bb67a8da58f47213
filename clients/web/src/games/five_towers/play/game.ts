/** The game's part of the view (FT 14), read into types. Nothing is computed that the view does not say. */
import type { Document, Value } from "towerhall-client";

import { KINDS, cardOf, type Card, type Kind } from "./cards";

export type Towers = Record<Kind, readonly number[]>;

export interface Player {
  seat: number;
  /** Values from the bottom up. */
  towers: Towers;
  demolished: Towers;
  score: number;
}

export interface Score {
  cards: number;
  spires: number;
  main: number;
  penalty: number;
  total: number;
}

export interface Game {
  options: { bids: string; eight: string };
  round: number;
  lap: number;
  pile: number;
  phase: "auction" | "build" | "over";
  start: number;
  /** The room has ended without a result. */
  isClosed: boolean;
  /** The seat whose turn it is, or null. */
  turn: number | null;
  display: Card[];
  /** By seat: the number, -1 for a pass. */
  calls: ReadonlyMap<number, number>;
  limits: ReadonlyMap<number, number>;
  players: Player[];
  discard: Towers;
  scores: ReadonlyMap<number, Score>;
}

export const PASS = -1;

export function isDocument(value: Value | undefined): value is Document {
  return typeof value === "object" && !Array.isArray(value);
}

/** The game of a room's view, or null while there is none. */
export function readGame(view: Document): Game | null {
  const game = view["game"];
  if (!isDocument(game)) return null;
  const options = part(game, "options");
  const room = part(view, "room");
  const closed = room["status"] === "over" && game["phase"] !== "over";
  return {
    isClosed: closed && room["result"] === undefined,
    options: { bids: String(options["bids"]), eight: String(options["eight"]) },
    round: Number(game["round"]),
    lap: Number(game["lap"]),
    pile: Number(game["pile"]),
    phase: game["phase"] as Game["phase"],
    start: Number(game["start"]),
    turn: typeof game["turn"] === "number" && !closed ? game["turn"] : null,
    display: list(game["display"]).map((id) => cardOf(String(id))),
    calls: bySeat(part(game, "calls"), Number),
    limits: bySeat(part(game, "limits"), Number),
    players: [...bySeat(part(game, "seats"), readPlayer)].map(([seat, player]) => ({ seat, ...player })),
    discard: readTowers(part(game, "discard")),
    scores: bySeat(part(game, "scores"), (score) => score as unknown as Score),
  };
}

/** Whether a bot plays in that seat: one that has it, or one that stands in. */
export function isBot(view: Document, seat: number): boolean {
  const holder = part(part(part(view, "room"), "seats"), String(seat));
  return "bot" in holder || "stand_in" in holder;
}

/** The number that leads the auction, with its seat; null without a bid. */
export function leading(game: Game): { seat: number; number: number } | null {
  let best: { seat: number; number: number } | null = null;
  for (const [seat, number] of game.calls) {
    if (number !== PASS && (!best || number > best.number)) best = { seat, number };
  }
  return best;
}

export function count(towers: Towers): number {
  return KINDS.reduce((sum, kind) => sum + towers[kind].length, 0);
}

/** Whether no tower of these is higher; the lowest towers do not count as such. */
export function isTallest(towers: Towers, kind: Kind): boolean {
  return towers[kind].length > 1 && KINDS.every((other) => towers[other].length <= towers[kind].length);
}

/** Seats in the order in which they call: the start player first. */
export function callingOrder(game: Game): number[] {
  const seats = game.players.length;
  return game.players.map((_, index) => (game.start + index) % seats);
}

function readPlayer(value: Value): Omit<Player, "seat"> {
  const player = isDocument(value) ? value : {};
  return {
    towers: readTowers(part(player, "towers")),
    demolished: readTowers(part(player, "demolished")),
    score: Number(player["score"]),
  };
}

function readTowers(towers: Document): Towers {
  return Object.fromEntries(KINDS.map((kind) => [kind, list(towers[kind]).map(Number)])) as unknown as Towers;
}

function part(document: Document, key: string): Document {
  const value = document[key];
  return isDocument(value) ? value : {};
}

function list(value: Value | undefined): Value[] {
  return Array.isArray(value) ? value : [];
}

function bySeat<T>(document: Document, read: (value: Value) => T): Map<number, T> {
  const seats = Object.keys(document).map(Number).sort((a, b) => a - b);
  return new Map(seats.map((seat) => [seat, read(document[String(seat)] as Value)]));
}
