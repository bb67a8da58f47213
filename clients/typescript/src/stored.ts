/**
 * What the log holds, as far as it can be compared without any rules (P-121).
 *
 * Commits are read by the rules of their version. Here only their outer form is used: who caused it, and events as lists of
 * a name and fields, of which the public ones are told to everybody in the same order.
 */

import { same } from "./equality";
import { malformed, type Limits } from "./limits";
import { unpacked } from "./msgpack";

const IN_THE_LOG: Limits = { messageBytes: 1 << 20, stringBytes: 1 << 16, arrayItems: 1 << 14, mapItems: 1 << 12, depth: 32, bytes: true };

/** Room events that keep something back, and the places of what they tell (P-32). */
const TOLD: Readonly<Record<string, readonly number[]>> = { room_created: [0, 3, 4, 6, 1, 8], person_sat: [0, 1, 3, 4] };

export interface Stored {
  /** Who caused it, as everybody may know it (P-31). */
  cause: unknown[];
  events: unknown[][];
}

/** The commit in that blob; `CodecError` if there is none. */
export function readCommit(blob: Uint8Array): Stored {
  const commit = unpacked(blob, IN_THE_LOG);
  if (!Array.isArray(commit)) throw malformed("a commit is a list");
  const [cause, ...lists] = commit.slice(0, 4) as unknown[];
  if (!Array.isArray(cause) || !lists.every(Array.isArray)) throw malformed("a commit holds lists");
  const events = lists.flat();
  if (!events.every(Array.isArray)) throw malformed("an event is a list");
  const [seat, , origin, n] = cause as unknown[];
  return { cause: n ? [seat, origin, n] : Number(seat) < 0 ? [] : [seat], events };
}

/** Whether that was stored which is told: all of it or, where something may be kept back, parts of it in their order. */
export function isTold(told: readonly unknown[], stored: readonly unknown[]): boolean {
  const places = TOLD[String(stored[0])];
  if (places) return same(told, places.map((place) => stored[place]));
  if (told.length === stored.length) return same(told, stored);
  let at = 0;
  for (const item of stored) if (at < told.length && same(told[at], item)) at += 1;
  return at === told.length && told[0] === stored[0];
}
