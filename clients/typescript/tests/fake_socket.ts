/** A WebSocket whose other end is the test. */

import { vi } from "vitest";
import { type Codec, msgpack } from "../src/codec";
import { json } from "../src/json_codec";
import { FROM_CLIENT } from "../src/limits";
import type { Frame, Patch, Subprotocol } from "../src/types";

export const BASE = "AAECAwQFBgcICQoLDA0ODw.all.1.1";
export const UID = "AAECAwQFBgcICQoLDA0ODw";
export const PLAYING = { room: { uid: UID, status: "playing", seats: { "0": { name: "Ada" } } }, game: { turn: 0 } };
export const WAITING = { room: { uid: UID, status: "waiting", seats: {} } };

export class FakeSocket {
  static all: FakeSocket[] = [];
  /** Of the client that came last. */
  static origin = "";
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  binaryType = "";
  readyState = 0;
  sent: unknown[][] = [];
  closedBy: number | null = null;
  readonly #codec: Codec;

  constructor(
    readonly url: string,
    [subprotocol]: [Subprotocol],
  ) {
    this.#codec = subprotocol === json.subprotocol ? json : msgpack;
    FakeSocket.all.push(this);
  }

  static get last(): FakeSocket {
    return FakeSocket.all.at(-1)!;
  }

  // What the client calls

  send(data: Uint8Array | string): void {
    this.sent.push(this.#codec.decode(data, FROM_CLIENT) as unknown[]);
  }

  close(code: number): void {
    this.closedBy = code;
  }

  // What the server does

  opens(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  /** Messages that were sent since the last time that this was asked. */
  took(): unknown[][] {
    return this.sent.splice(0);
  }

  says(...message: unknown[]): void {
    const data = this.#codec.encode(message);
    this.onmessage?.({ data: typeof data === "string" ? data : data.buffer });
  }

  /** Something that is no message at all. */
  babbles(data: unknown): void {
    this.onmessage?.({ data });
  }

  ends(code = 1006): void {
    this.onclose?.({ code });
  }

  /** Lets the client in; the greeting that it came with. */
  welcomes(seq: number, view?: object, more: object = {}): Record<string, unknown> {
    this.opens();
    const [name, greeting] = this.took()[0] as [string, Record<string, unknown>];
    if (name !== "hello") throw new Error(`${name} came first`);
    FakeSocket.origin = String(greeting["origin"]);
    const arrival = { you: "p_1", name: "Ada", level: 1, now: [9000, 5000], cursor: [BASE, seq, `mark${seq}`], seat: 0, ...more };
    this.says("welcome", view ? { ...arrival, view } : arrival);
    return greeting;
  }

  frame(seq: number, cause: unknown[], patch: Patch): void {
    this.says("frame", seq, `mark${seq}`, cause, [["happened", seq]], patch);
  }

  offers(seq: number): void {
    this.says("offers", seq, `mark${seq}`, [{ command: "bid", ranges: { number: [3, 5] } }]);
  }
}

export function frameOf(seq: number, patch: Patch): Frame {
  return { seq, mark: `mark${seq}`, cause: [], facts: [], patch };
}

/** The options that put a fake in place of the network, the clock and chance. */
export function faked(chance = 1): { WebSocket: typeof WebSocket; now: () => number; chance: () => number } {
  FakeSocket.all = [];
  vi.useFakeTimers();
  return { WebSocket: FakeSocket as unknown as typeof WebSocket, now: () => Date.now(), chance: () => chance };
}
