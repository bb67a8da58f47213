/**
 * The contents of the log (P-122, P-123): who caused a commit, its events, and the command that led to it.
 *
 * A commit has one form only, which its chain covers. Only the rules can tell whether it follows from the one before.
 */

import { same } from "./equality.ts";
import { malformed, type Limits } from "./limits.ts";
import { isMap } from "./merge_patch.ts";
import { unpacked } from "./msgpack.ts";

const IN_THE_LOG: Limits = {
  messageBytes: 1 << 20, stringBytes: 1 << 16, arrayItems: 1 << 14, mapItems: 1 << 12, depth: 32, bytes: true, canonical: true,
};

/** Events of the room that keep something back: the places of what they tell, in the order in which they tell it. */
const HIDING: Readonly<Record<string, readonly number[]>> = { room_created: [0, 3, 4, 6, 1, 8], person_sat: [0, 1, 3, 4] };
/** Games of which all is told as it is stored. Others may keep something back. */
const OPEN_GAMES: readonly string[] = ["five_towers", "nikitin_towers"];

export interface Stored {
  /** The public cause (P-31). */
  cause: unknown[];
  /** The id of the person in this room who gave the command, or empty. */
  identity: string;
  /** Events of the room, of the game, and of the room at the game's end. */
  parts: [room: unknown[][], game: unknown[][], end: unknown[][]];
  command: Record<string, unknown>;
}

/** The commit in that blob; `CodecError` if there is none, or not in its one form. */
export function readCommit(blob: Uint8Array): Stored {
  const commit = unpacked(blob, IN_THE_LOG);
  if (!Array.isArray(commit) || commit.length !== 5) throw malformed("a commit is a list of five");
  const [cause, ...rest] = commit as unknown[];
  const command = rest.pop();
  if (!Array.isArray(cause) || cause.length !== 4) throw malformed("a cause is a list of four");
  const [seat, identity, origin, n] = cause as unknown[];
  const isCause = Number.isSafeInteger(seat) && Number.isSafeInteger(n) && typeof identity === "string" && typeof origin === "string";
  if (!isCause || !isMap(command)) throw malformed("a cause or a command has another shape");
  const parts = rest as Stored["parts"];
  for (const part of parts)
    if (!Array.isArray(part) || !part.every((event) => Array.isArray(event) && typeof event[0] === "string")) throw malformed("an event is a list");
  return { cause: n ? [seat, origin, n] : Number(seat) < 0 ? [] : [seat], identity, parts, command };
}

/** Whether these facts are what everybody may know of a commit: one for each event, in order. */
export function areTold(facts: readonly (readonly unknown[])[], { parts: [room, game, end] }: Stored, name: string): boolean {
  const events = [...room, ...game, ...end];
  const isOfGame = (at: number): boolean => at >= room.length && at < room.length + game.length;
  return (
    facts.length === events.length &&
    facts.every((fact, at) => (isOfGame(at) ? isToldByGame(fact, events[at]!, name) : same(fact, toldOf(events[at]!))))
  );
}

/** What everybody may know of an event of the room. */
function toldOf(event: readonly unknown[]): unknown[] {
  const places = HIDING[String(event[0])];
  return places ? places.map((place) => event[place]) : [...event];
}

/** A game that is not known here may keep parts of an event back, but tells the others in their order. */
function isToldByGame(fact: readonly unknown[], event: readonly unknown[], name: string): boolean {
  if (OPEN_GAMES.includes(name)) return same(fact, event);
  let at = 0;
  for (const item of event) if (at < fact.length && same(fact[at], item)) at += 1;
  return at === fact.length && fact[0] === event[0];
}
