/**
 * The state of a client and how messages change it: a whole client except for its socket, as in `replay.py`.
 *
 * A `Replay` is a state machine without I/O, clock or chance. Give it what the server sent, in order, and send what it
 * returns; drop the connection whenever you like, begin the next one with `hello`, and it goes on where it was. Every commit
 * is applied once and in order, or a `faulted` says so; a command is sent until it is answered, always with the same number,
 * tag and body, so that the server does it once.
 */

import { base64url } from "./bytes.ts";
import { mergePatch } from "./merge_patch.ts";
import { type Arrival, frameOf, type ServerFrame, type ServerMessage } from "./messages.ts";
import { holder, type Keep, SealedNonce } from "./nonce.ts";
import { Collector, type Evidence } from "./evidence.ts";
import type { Command, Cursor, Document, Frame, Offer, Params } from "./types.ts";

/** The level of the protocol that this client speaks. */
export const LEVEL = 6;
export const MOST_UNANSWERED = 8;
const ORIGIN_BYTES = 8;
const BEFORE_WELCOME = ["welcome", "error", "go", "pong"];
/** Commands to the room itself (P-50). They answer no offer, so they carry no tag. */
const ROOM_COMMANDS = new Set(
  "sit stand ready start open add_bot remove_bot kick set_options admit mute unmute leave take_back call_bot resign want_end rematch".split(" "),
);

export function isRoomCommand({ command }: Command): boolean {
  return ROOM_COMMANDS.has(command);
}

export type ClientCommand = ["command", n: number, tag: string, body: Command, dry: boolean];

/** The effect of a message. The `Replay` already holds the new state. */
export type Update =
  | { kind: "synced"; seq: number; replaced: boolean; lost: number }
  | { kind: "reset"; seq: number; lost: number }
  | { kind: "moved"; frame: Frame; before: Document; after: Document; own: number | null }
  | { kind: "answered"; n: number; seq: number }
  | { kind: "dry_answered"; n: number; effect: Document }
  | { kind: "rejected"; n: number; code: string; rule: string; params: Params; hint: string }
  | { kind: "searching"; n: number; ahead: number }
  | { kind: "chain"; seq: number; chain: string; key: string; signature: string }
  | { kind: "offers" | "seat" | "presence" | "paused" | "pong" }
  | { kind: "chat"; id: string; name: string; seat: number | null; text: string; wallMs: number; who: string }
  | { kind: "emote"; name: string; seat: number | null; emote: string; who: string }
  | { kind: "go"; withinMs: number }
  | { kind: "history"; frames: Frame[]; last: number }
  | { kind: "error"; code: string; params: Params; hint: string }
  | { kind: "faulted"; reason: string };

export interface ReplayOptions {
  randomBytes: (size: number) => Uint8Array;
  origin?: string;
  keep?: Keep | null;
}

/** One client of one room, over as many connections as it takes. */
export class Replay {
  readonly origin: string;
  cursor: Cursor | null = null;
  view: Document = {};
  you = "";
  name = "";
  level = 0;
  seat: number | null = null;
  offers: readonly Offer[] = [];
  tag = "";
  online: readonly number[] = [];
  /** For each seat how long it had had no connection when that was told; empty if that is not known. */
  awayMs: readonly number[] = [];
  watchers = 0;
  paused = false;
  /** The room opens by its key only. */
  isPrivate = false;
  /** Wall clock and service clock in ms, when the server last told them. */
  now: [wall: number, served: number] = [0, 0];
  welcomed = false;
  #faulted = false;
  #next = 1;
  #gameSeq = 0;
  readonly #unanswered = new Map<number, ClientCommand>();
  #postponed = new Set<number>();
  /** Whether something came since then that makes room for a postponed command. */
  #mayGo = false;
  readonly #nonce: SealedNonce;
  readonly #collector: Collector;

  constructor({ randomBytes, origin, keep }: ReplayOptions) {
    this.origin = origin ?? base64url(randomBytes(ORIGIN_BYTES));
    this.#nonce = new SealedNonce(randomBytes, keep);
    this.#collector = new Collector(keep ?? null);
  }

  // Sending

  /** The first message of a new connection; whatever was before it is over. */
  hello(token: string, key = ""): ["hello", Record<string, unknown>] {
    this.welcomed = this.#faulted = false;
    const greeting: Record<string, unknown> = { token, level: LEVEL, origin: this.origin };
    if (this.cursor) greeting["cursor"] = this.cursor;
    if (key) greeting["key"] = key;
    return ["hello", greeting];
  }

  /** The command as a message with the next number. It is unanswered from now on. */
  command(body: Command, dry = false): ClientCommand {
    if (this.isFull) throw new RangeError("wait until a command is answered");
    const tag = isRoomCommand(body) ? "" : this.tag;
    const command: ClientCommand = ["command", this.#next, tag, body, dry];
    this.#unanswered.set(this.#next, command);
    this.#next += 1;
    return command;
  }

  /** Sit down, with a fresh nonce sealed for the deal. */
  sit(seat?: number): ClientCommand {
    return this.#sealing(seat === undefined ? { command: "sit" } : { command: "sit", seat });
  }

  /** Get ready, with a fresh nonce unless ours is sealed: a cancelled deal spends it. */
  ready(ready = true): ClientCommand {
    if (!ready) return this.command({ command: "ready", ready: false });
    return this.#nonce.isSealed(this.view, this.seat) ? this.command({ command: "ready" }) : this.#sealing({ command: "ready" });
  }

  /** The command that opens the nonce, if it is due. Ask after every message. */
  opening(): ClientCommand | null {
    if (!this.welcomed || this.isFull || this.#isUnderWay("open")) return null;
    const body = this.#nonce.opening(this.view, this.seat, this.seq);
    if (!body) return null;
    const command = this.command(body);
    this.#collector.open(command[1], this.view, String(body["nonce"]));
    return command;
  }

  /** The command that shows a fresh nonce in place of one that is lost, if there is one. Ask after `opening`. */
  mending(): ClientCommand | null {
    if (!this.welcomed || this.isFull || this.#isUnderWay("sit") || this.#isUnderWay("ready")) return null;
    if (!this.#nonce.isOrphaned(this.view, this.seat, this.seq)) return null;
    const isReady = holder(this.view, this.seat)["ready"] === true;
    return this.#sealing(isReady ? { command: "ready" } : { command: "ready", ready: false });
  }

  /** The unanswered commands, in order: to be sent after every `synced` and `reset`. */
  resend(): ClientCommand[] {
    return [...this.#unanswered.values()];
  }

  /**
   * Commands that the server turned away as too many (P-44), in order, once another one was answered. Send them. Ask after every
   * message.
   */
  postponed(): ClientCommand[] {
    if (!this.#mayGo) return [];
    const numbers = this.#stopPostponing();
    return this.resend().filter(([, n]) => numbers.has(n));
  }

  /** What is kept of this room, to be compared with its record (P-87). */
  get evidence(): Evidence | null {
    return this.#collector.evidence;
  }

  /** The numbers of the commands that wait for an answer. */
  get unanswered(): number[] {
    return [...this.#unanswered.keys()];
  }

  /** Whether no further command may be sent before an answer comes. */
  get isFull(): boolean {
    return this.#unanswered.size >= MOST_UNANSWERED || this.#postponed.size > 0;
  }

  /** The last commit that is in the view. */
  get seq(): number {
    return this.cursor?.[1] ?? 0;
  }

  // Receiving

  /** Take in one message of the server. */
  receive(message: ServerMessage): Update[] {
    if (this.#faulted) return [];
    if (!this.welcomed && !BEFORE_WELCOME.includes(message[0])) return this.fault("a message came before the welcome");
    switch (message[0]) {
      case "welcome":
        return this.#welcome(message[1]);
      case "frame":
        return this.#frame(message);
      case "reset": {
        const [, cursor, view, lost] = message;
        this.#replace(cursor, view);
        return [{ kind: "reset", seq: this.seq, lost }];
      }
      case "offers": {
        // Offers that took long to find may come after the frame that made them void.
        if (message[1] < this.#gameSeq) return [];
        [, , this.tag, this.offers] = message;
        return [{ kind: "offers" }];
      }
      case "rejected": {
        const [, n, code, rule, params, hint] = message;
        this.#settle(n, false);
        return [{ kind: "rejected", n, code, rule, params, hint }];
      }
      case "duplicate":
        this.#settle(message[1], true);
        return [{ kind: "answered", n: message[1], seq: message[2] }];
      case "accepted":
        this.#settle(message[1], false);
        return [{ kind: "dry_answered", n: message[1], effect: message[2] }];
      default:
        return this.#aside(message);
    }
  }

  /** Messages that change neither view nor commands. */
  #aside(message: ServerMessage): Update[] {
    switch (message[0]) {
      case "chain": {
        const [, seq, chain, key = "", signature = ""] = message;
        this.#collector.tell({ seq, chain, ...(signature && { key, signature }) }, this.seq, this.view, this.seat);
        return [{ kind: "chain", seq, chain, key, signature }];
      }
      case "seat":
        this.seat = seatOf(message[1]);
        this.#dropOffers();
        return [{ kind: "seat" }];
      case "presence":
        [, this.online, this.watchers, this.awayMs = []] = message;
        return [{ kind: "presence" }];
      case "chat": {
        const [, id, name, seat, text, wallMs, who = ""] = message;
        return [{ kind: "chat", id, name, seat: seatOf(seat), text, wallMs, who }];
      }
      case "emote":
        return [{ kind: "emote", name: message[1], seat: seatOf(message[2]), emote: message[3], who: message[4] ?? "" }];
      case "searching":
        return [{ kind: "searching", n: message[1], ahead: message[2] }];
      case "paused":
        this.paused = message[1];
        return [{ kind: "paused" }];
      case "go":
        return [{ kind: "go", withinMs: message[1] }];
      case "pong":
        this.now = message[2];
        this.#mayGo = this.#postponed.size > 0;
        return [{ kind: "pong" }];
      case "history":
        return [{ kind: "history", frames: message[1].map(frameOf), last: message[2] }];
      case "error":
        if (message[1] === "too_many_unanswered") this.#postpone(message[2]["n"]);
        return [{ kind: "error", code: message[1], params: message[2], hint: message[3] }];
      default:
        return [];
    }
  }

  #welcome(arrival: Arrival): Update[] {
    if (this.welcomed) return this.fault("a second welcome came");
    if (arrival.view) this.#replace(arrival.cursor, arrival.view);
    else if (String(this.cursor) !== String(arrival.cursor.slice(0, 3))) return this.fault("the welcome goes on from elsewhere");
    this.#dropOffers();
    this.#stopPostponing();
    this.welcomed = true;
    ({ you: this.you, name: this.name, level: this.level, now: this.now } = arrival);
    this.seat = seatOf(arrival.seat ?? -1);
    this.online = arrival.online ?? [];
    this.awayMs = [];
    this.watchers = arrival.watchers ?? 0;
    this.paused = arrival.paused ?? false;
    this.isPrivate = arrival.private ?? false;
    this.#collector.arrive(this.view, arrival);
    return [{ kind: "synced", seq: this.seq, replaced: arrival.view !== undefined, lost: arrival.lost ?? 0 }];
  }

  #frame(message: ServerFrame): Update[] {
    const frame = frameOf(message);
    const before = this.view;
    if (!this.cursor || frame.seq !== this.seq + 1) return this.fault(`frame ${frame.seq} came after ${this.seq}`);
    this.view = mergePatch(before, frame.patch);
    this.cursor = [this.cursor[0], frame.seq, frame.mark];
    this.#collector.move(frame.seq, frame.facts, this.view, this.seat);
    if (Object.hasOwn(frame.patch, "game")) {
      this.#dropOffers();
      this.#gameSeq = frame.seq;
    }
    const own = frame.cause[1] === this.origin && typeof frame.cause[2] === "number" ? frame.cause[2] : null;
    const moved: Update = { kind: "moved", frame, before, after: this.view, own };
    if (own === null) return [moved];
    this.#next = Math.max(this.#next, own + 1);
    this.#settle(own, true);
    return [moved, { kind: "answered", n: own, seq: frame.seq }];
  }

  #replace(cursor: Cursor, view: Document): void {
    const [base, seq, mark] = cursor;
    this.cursor = [base, seq, mark];
    this.view = view;
    this.#collector.replace(view);
    this.#gameSeq = 0;
    this.#stopPostponing();
    this.#nonce.lookAgain();
    this.#dropOffers();
  }

  #sealing(body: Command): ClientCommand {
    const nonce = this.#nonce.draw(this.view);
    if (!nonce) return this.command(body);
    const command = this.command({ ...body, nonce: this.#nonce.hash(this.view, nonce) });
    this.#nonce.show(command[1], nonce);
    return command;
  }

  #isUnderWay(name: string): boolean {
    return this.resend().some(([, , , body]) => body.command === name);
  }

  #settle(n: number, done: boolean): void {
    const command = this.#unanswered.get(n);
    if (!command) return;
    this.#unanswered.delete(n);
    this.#nonce.settle(n, command[3], done, this.view);
    this.#collector.opened(n, done);
    this.#postponed.delete(n);
    this.#mayGo = this.#postponed.size > 0;
  }

  /** Resend that command before any later one, which would make it stale (P-42). */
  #postpone(n: unknown): void {
    if (typeof n !== "number" || !this.#unanswered.has(n)) return;
    for (const each of this.#unanswered.keys()) if (each >= n) this.#postponed.add(each);
    this.#mayGo = false;
  }

  #stopPostponing(): Set<number> {
    const numbers = this.#postponed;
    this.#postponed = new Set();
    this.#mayGo = false;
    return numbers;
  }

  #dropOffers(): void {
    this.offers = [];
    this.tag = "";
  }

  /** The server broke the protocol (P-25): the next connection asks for everything. Unanswered commands stay. */
  fault(reason: string): Update[] {
    this.cursor = null;
    this.welcomed = false;
    this.#faulted = true;
    return [{ kind: "faulted", reason }];
  }
}

function seatOf(number: number): number | null {
  return number < 0 ? null : number;
}
