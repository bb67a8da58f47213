/**
 * A place at a table: the room as this client sees it, and everything that it may do there.
 *
 * It is kept over any number of breaks. Commands are answered in the end, however often the connection broke in between;
 * a caller that awaits an answer waits longer.
 */

import { Asking } from "./asking.ts";
import { randomBytes } from "./bytes.ts";
import { asRead } from "./codec.ts";
import { Emitter } from "./emitter.ts";
import { ServiceError } from "./errors.ts";
import type { Evidence } from "./evidence.ts";
import { History } from "./history.ts";
import { Line, type LineOptions } from "./line.ts";
import { readServer } from "./messages.ts";
import { type Keep, room } from "./nonce.ts";
import { Replay, type Update } from "./replay.ts";
import { ServiceClock } from "./service_clock.ts";
import type { Answer, Command, Document, Ending, Frame, LineState, Offer, TableEvent } from "./types.ts";

const NO_OFFERS: readonly Offer[] = [];
const REMEMBERED_LINES = 500;

export interface ConnectOptions extends LineOptions {
  /** Address of the service, as `https://play.example`. */
  origin: string;
  code: string;
  token: string;
  /** Key of a private room. */
  key?: string | undefined;
  /** Storage of sealed nonces and of evidence (P-87) beyond the page: `localStorage` in a browser; null for none. */
  storage?: Keep | null | undefined;
  randomBytes?: ((size: number) => Uint8Array) | undefined;
}

/** A place at that room. It connects by itself; `state` tells how that goes. */
export function connect(options: ConnectOptions): Table {
  return new Table(options);
}

/** The view of one client of a room, and its commands there. Made by `connect`. */
export class Table {
  readonly code: string;
  #token: string;
  readonly #replay: Replay;
  readonly #line: Line;
  readonly #asking: Asking;
  readonly #history: History;
  readonly #clock: ServiceClock;
  readonly #events = new Emitter<TableEvent>();
  readonly #lines = new Set<string>();
  #entered = false;
  #awayToldAt = 0;

  constructor(options: ConnectOptions) {
    this.code = options.code;
    this.#token = options.token;
    const keep = options.storage === undefined ? pageStorage() : options.storage;
    this.#replay = new Replay({ randomBytes: options.randomBytes ?? randomBytes, keep });
    const owner = {
      greeting: () => this.#replay.hello(this.#token, options.key),
      ping: () => this.#ping(),
      take: (document: unknown) => this.#take(document),
      fault: (reason: string) => void this.#replay.fault(reason),
      changed: () => this.#changed(),
    };
    this.#line = new Line(options.origin, `/v1/rooms/${encodeURIComponent(options.code)}`, owner, options);
    const post = (message: unknown): void => this.#line.post(message);
    this.#asking = new Asking(this.#replay, post);
    this.#history = new History(post);
    this.#clock = new ServiceClock(this.#line.now);
    this.#line.connect();
  }

  // State

  /** What this client sees. Never change it: its parts are shared with earlier and later views. */
  get view(): Document {
    return this.#replay.view;
  }

  /** The last commit that is in the view. */
  get seq(): number {
    return this.#replay.seq;
  }

  /** The seat of this person, or null. */
  get seat(): number | null {
    return this.#replay.seat;
  }

  /** The legal commands of this seat. Empty while the connection is away, because offers end with it (P-39). */
  get offers(): readonly Offer[] {
    return this.state === "up" && room(this.view)["status"] === "playing" ? this.#replay.offers : NO_OFFERS;
  }

  /** The id of this person in this room (P-19). */
  get you(): string {
    return this.#replay.you;
  }

  /** The name of this person, as others see it. */
  get name(): string {
    return this.#replay.name;
  }

  /** The seats that are connected. */
  get online(): readonly number[] {
    return this.#replay.online;
  }

  /** How many ms a seat has had no connection, or null if it has one or that is not known. */
  awayMs(seat: number): number | null {
    const told = this.#replay.awayMs[seat];
    return told === undefined || this.online.includes(seat) ? null : told + this.#line.now() - this.#awayToldAt;
  }

  /** How many connections have no seat. */
  get watchers(): number {
    return this.#replay.watchers;
  }

  /** Whether no commit is possible at this moment (P-95). */
  get paused(): boolean {
    return this.#replay.paused;
  }

  /** Whether the room opens by its key only: then its code alone leads no other person in. */
  get isPrivate(): boolean {
    return this.#replay.isPrivate;
  }

  /** The level that the server speaks. */
  get level(): number {
    return this.#replay.level;
  }

  /** How the connection stands. */
  get state(): LineState {
    return this.#line.state;
  }

  /** Why the table has ended, or null. */
  get ending(): Ending | null {
    return this.#line.ending;
  }

  /** Why the connection is away, if the server said so: `restart`, `busy`, `store_unavailable`; otherwise `going_away`. */
  get trouble(): Ending | null {
    return this.#line.trouble;
  }

  /** How many commands are under way. */
  get unanswered(): number {
    return this.#replay.unanswered.length + this.#asking.waiting;
  }

  /** What is kept of this room, to be compared with its record (P-87). */
  get evidence(): Evidence | null {
    return this.#replay.evidence;
  }

  /** When the next attempt to connect is due, by `performance.now()`. */
  get retryAt(): number | null {
    return this.#line.retryAt;
  }

  /** How many ms are left for the present decision, or null if there is no clock. It stands still while paused. */
  timeLeft(): number | null {
    return this.#clock.leftMs(this.view);
  }

  /** Hear of everything from now on. The state is the new one already when an event comes. */
  on(listener: (event: TableEvent) => void): () => void {
    return this.#events.on(listener);
  }

  // Doing

  /**
   * Do it, and learn what became of it. A command of the game answers the present offers. The promise fails only when the
   * table has ended, as a `ServiceError` with the name of the ending: then it is unknown whether it was done; or with a
   * `CodecError`, if no message can hold such a command: then it was not sent.
   */
  send(command: Command): Promise<Answer> {
    return this.#ask(command, false);
  }

  /** Ask what a command would lead to, without doing it. */
  dry(command: Command): Promise<Answer> {
    return this.#ask(command, true);
  }

  /** Take that seat, or the lowest that is free. */
  sit(seat?: number): Promise<Answer> {
    return this.send(seat === undefined ? { command: "sit" } : { command: "sit", seat });
  }

  /** Say that this seat may start, or that it may not. Adds a nonce to the shuffle. */
  ready(ready = true): Promise<Answer> {
    return this.send({ command: "ready", ready });
  }

  /**
   * Send a chat line to the room. It was delivered when it comes back; while the connection is away it is lost. Throws
   * a `CodecError` if no message can hold it: with more than 1200 bytes, or half a surrogate pair.
   */
  chat(text: string): void {
    this.#line.post(asRead(["chat", text]));
  }

  /** Send one of the emotes of P-98 to the people who are in the room now. */
  emote(emote: string): void {
    this.#line.post(asRead(["emote", emote]));
  }

  /** The frames of that range, both ends included; up to now if no end is given. */
  history(first: number, last = this.seq): Promise<Frame[]> {
    const frames = this.#history.frames(first, last);
    if (this.ending) this.#history.end(endError(this.ending));
    return frames;
  }

  /** Ask the server to sign the present place (P-99). The signature is added to the evidence. */
  sign(): void {
    this.#line.post(["sign"]);
  }

  /** Another token of the same person, as after a change of the name. The table greets with it at once. */
  useToken(token: string): void {
    if (token === this.#token) return;
    this.#token = token;
    this.#line.restart();
  }

  /** The device woke up, the network is back, or a person wants to return: do not wait any longer. */
  reconnectNow(): void {
    this.#line.reconnectNow();
  }

  /** Leave for good. The seat stays with its person. */
  close(): void {
    this.#line.close();
  }

  #ask(command: Command, dry: boolean): Promise<Answer> {
    const answer = this.#asking.ask(command, dry);
    if (this.ending) this.#asking.end(endError(this.ending));
    this.#events.emit({ kind: "changed" });
    return answer;
  }

  // Events of the line

  #ping(): unknown {
    return ["ping", this.seq];
  }

  #changed(): void {
    this.#history.line(this.state === "up");
    if (this.ending) {
      const error = endError(this.ending);
      this.#asking.end(error);
      this.#history.end(error);
    }
    this.#events.emit({ kind: "changed" });
  }

  #take(document: unknown): string | null {
    const message = readServer(document);
    for (const update of message ? this.#replay.receive(message) : []) {
      if (update.kind === "faulted") return update.reason;
      this.#happened(update);
    }
    for (const command of this.#replay.postponed()) this.#line.post(command);
    for (const own of [this.#replay.opening(), this.#replay.mending()]) if (own) this.#line.post(own);
    this.#asking.pump();
    this.#events.emit({ kind: "changed" });
    return null;
  }

  #happened(update: Update): void {
    this.#asking.happened(update);
    this.#history.happened(update);
    this.#clock.happened(update, this.#replay);
    switch (update.kind) {
      case "synced":
      case "reset":
        for (const command of this.#replay.resend()) this.#line.post(command);
        this.#history.line(true);
        if (update.kind === "reset" || (update.replaced && this.#entered))
          this.#events.emit({ kind: "reset", lost: update.lost });
        this.#entered = true;
        break;
      case "moved":
        this.#events.emit({ kind: "frame", frame: update.frame, before: update.before, after: update.after });
        break;
      case "presence":
        this.#awayToldAt = this.#line.now();
        break;
      case "paused":
        if (!this.paused) this.#line.post(this.#ping());
        break;
      case "chat":
        if (this.#isNew(update.id)) this.#events.emit(update);
        break;
      case "emote":
      case "searching":
      case "error":
        this.#events.emit(update);
    }
  }

  /** A line of chat may come twice, as after a reconnect (P-93). */
  #isNew(id: string): boolean {
    if (this.#lines.has(id)) return false;
    this.#lines.add(id);
    const [oldest] = this.#lines;
    if (this.#lines.size > REMEMBERED_LINES) this.#lines.delete(oldest!);
    return true;
  }
}

function endError({ name, hint, params }: Ending): ServiceError {
  return new ServiceError(name, hint, 0, params);
}

function pageStorage(): Keep | null {
  try {
    return typeof document === "undefined" ? null : globalThis.localStorage;
  } catch {
    return null; // forbidden by the browser's settings
  }
}
