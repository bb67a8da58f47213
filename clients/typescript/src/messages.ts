/** Messages of a server, checked as far as a client relies on them. Unknown items and keys of later levels are ignored (P-5). */

import { isMap } from "./merge_patch.ts";
import { malformed } from "./limits.ts";
import type { Cause, Cursor, Document, Fact, Frame, Offer, Params, Patch } from "./types.ts";

export interface Arrival {
  you: string;
  name: string;
  level: number;
  now: [wall: number, served: number];
  cursor: Cursor;
  view?: Document;
  seat?: number;
  lost?: number;
  online?: number[];
  watchers?: number;
  paused?: boolean;
  chain?: [seq: number, chain: string];
  shared?: boolean;
  private?: boolean;
}

export type ServerFrame = ["frame", seq: number, mark: string, cause: Cause, facts: Fact[], patch: Patch];

export type ServerMessage =
  | ["welcome", Arrival]
  | ServerFrame
  | ["chain", seq: number, chain: string, key?: string, signature?: string]
  | ["offers", seq: number, tag: string, offers: Offer[]]
  | ["rejected", n: number, code: string, rule: string, params: Params, hint: string]
  | ["duplicate", n: number, seq: number]
  | ["accepted", n: number, effect: Document]
  | ["searching", n: number, ahead: number]
  | ["history", frames: ServerFrame[], last: number]
  | ["reset", cursor: Cursor, view: Document, lost: number]
  | ["seat", seat: number]
  | ["presence", online: number[], watchers: number, awayMs?: number[]]
  | ["chat", id: string, name: string, seat: number, text: string, wallMs: number, who?: string]
  | ["emote", name: string, seat: number, emote: string, who?: string]
  | ["paused", boolean]
  | ["go", withinMs: number]
  | ["pong", seq: number, now: [number, number]]
  | ["error", code: string, params: Params, hint: string, rule?: string];

export type LobbyMessage =
  | ["welcome", { you: string; name: string; level: number; list: Document }]
  | ["reset", list: Document]
  | ["patch", patch: Patch]
  | ["paused", boolean]
  | ["go", withinMs: number]
  | ["pong", seq: number, now: [number, number]]
  | ["error", code: string, params: Params, hint: string, rule?: string];

// One letter for each field: a number, some text, a boolean, a list or a map. A capital: servers of older levels leave it out.
const FROM_ROOM: Record<string, string> = {
  welcome: "m", frame: "nsllm", chain: "nsSS", offers: "nsl", rejected: "nssms", duplicate: "nn", accepted: "nm", searching: "nn", history: "ln",
  reset: "lmn", seat: "n", presence: "lnL", chat: "ssnsnS", emote: "snsS", paused: "b", go: "n", pong: "nl", error: "smsS",
};
const FROM_LOBBY: Record<string, string> = {
  welcome: "m", reset: "m", patch: "m", paused: "b", go: "n", pong: "nl", error: "smsS",
};
const ARRIVAL: Record<string, string> = { you: "s", name: "s", level: "n", now: "l", cursor: "l" };
const ARRIVAL_OPTIONAL: Record<string, string> = {
  view: "m", seat: "n", lost: "n", online: "l", watchers: "n", paused: "b", chain: "l", shared: "b", private: "b",
};

/** The message of a room, or null if it is of a later level: to be ignored. */
export function readServer(document: unknown): ServerMessage | null {
  const message = shaped(document, FROM_ROOM);
  if (message === null) return null;
  const fields = message as ServerMessage;
  if (fields[0] === "welcome") checkArrival(fields[1] as unknown as Record<string, unknown>);
  else if (fields[0] === "reset") checkFields(fields[1], "sns");
  else if (fields[0] === "history") for (const frame of fields[1]) checkFrame(frame);
  return fields;
}

/** The same for what the lobby says. */
export function readLobby(document: unknown): LobbyMessage | null {
  const message = shaped(document, FROM_LOBBY) as LobbyMessage | null;
  if (message?.[0] === "welcome" && !isMap(message[1].list)) throw malformed("the welcome has no list");
  return message;
}

export function frameOf([, seq, mark, cause, facts, patch]: ServerFrame): Frame {
  return { seq, mark, cause, facts, patch };
}

/** Whether this is a frame as it travels (P-30). */
export function checkFrame(frame: unknown): asserts frame is ServerFrame {
  if (shaped(frame, { frame: FROM_ROOM["frame"]! }) === null) throw malformed("this is no frame");
}

function shaped(document: unknown, shapes: Record<string, string>): unknown[] | null {
  const name: unknown = Array.isArray(document) ? document[0] : undefined;
  if (!Array.isArray(document) || typeof name !== "string") throw malformed("a message begins with its name");
  if (!Object.hasOwn(shapes, name)) return null;
  checkFields(document.slice(1), shapes[name]!);
  return document;
}

function checkArrival(arrival: Record<string, unknown>): void {
  for (const [key, kind] of Object.entries(ARRIVAL)) check(arrival[key], kind);
  for (const [key, kind] of Object.entries(ARRIVAL_OPTIONAL)) if (arrival[key] !== undefined) check(arrival[key], kind);
  checkFields(arrival["cursor"] as unknown[], "sns");
  checkFields(arrival["now"] as unknown[], "nn");
  if (arrival["chain"] !== undefined) checkFields(arrival["chain"] as unknown[], "ns");
}

function checkFields(fields: readonly unknown[], kinds: string): void {
  [...kinds].forEach((kind, at) => {
    if (fields[at] !== undefined || kind !== kind.toUpperCase()) check(fields[at], kind.toLowerCase());
  });
}

export function check(value: unknown, kind: string): void {
  if (kindOf(value) !== kind) throw malformed("a field is of another kind");
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "l";
  return isMap(value) ? "m" : (typeof value)[0]!;
}
