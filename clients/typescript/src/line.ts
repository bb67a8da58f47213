/**
 * A line to a room or to the lobby that is kept up: connect, greet, listen; after a break, connect again.
 *
 * It owns the socket and nothing else. Anything that must survive a break is with the owner, who greets anew on every connection; what
 * is posted while there is no welcome is not kept here.
 */

import { Backoff } from "./backoff.ts";
import { type Codec, msgpack } from "./codec.ts";
import { closeOf, CodecError } from "./errors.ts";
import type { Ending, LineState, Params } from "./types.ts";

const WELCOME_MS = 15_000;
const PING_MS = 15_000;
const PONG_MS = 10_000;
/** Shorter timeout after a phone has slept or the network is back, to notice a dead socket soon. */
const WAKING_MS = 3_000;
/** Milliseconds after which a connection counts as good, and the backoff starts anew. */
const STEADY_MS = 10_000;
/** The states of a socket that is being made and of one that stands, and the number that stands for an end without a close. */
const CONNECTING = 0;
const OPEN = 1;
const NO_CLOSE = 1006;

/** Injected parts: for tests, and for platforms without a global WebSocket. */
export interface LineOptions {
  /** The subprotocol: `msgpack`, or `json` of `towerhall-client/json`. */
  codec?: Codec | undefined;
  WebSocket?: typeof WebSocket | undefined;
  /** A monotonic clock in ms. */
  now?: (() => number) | undefined;
  /** From 0 to 1. */
  chance?: (() => number) | undefined;
}

/** Whose line it is. */
export interface Owner {
  /** The first message of a connection. */
  greeting(): unknown;
  /** A message that asks for a sign of life. */
  ping(): unknown;
  /** One message came. The reason, if it broke the protocol. */
  take(message: unknown): string | null;
  /** The data was not a message. */
  fault(reason: string): void;
  /** State, ending or the moment of the next attempt is another. */
  changed(): void;
}

type Timer = ReturnType<typeof setTimeout>;

export class Line {
  state: LineState = "connecting";
  ending: Ending | null = null;
  /** Why it is away, as far as the server said so. */
  trouble: Ending | null = null;
  /** When the next attempt is due, by the monotonic clock. */
  retryAt: number | null = null;
  readonly now: () => number;
  readonly #url: string;
  readonly #owner: Owner;
  readonly #codec: Codec;
  readonly #WebSocket: typeof WebSocket;
  readonly #chance: () => number;
  readonly #backoff: Backoff;
  #socket: WebSocket | null = null;
  #since = 0;
  #heard = 0;
  #error: { params: Params; hint: string } | null = null;
  #goAt: number | null = null;
  #retry: Timer | undefined;
  #watch: Timer | undefined;
  #go: Timer | undefined;

  constructor(origin: string, path: string, owner: Owner, options: LineOptions) {
    this.#url = origin.replace(/\/+$/, "").replace(/^http/, "ws") + path;
    this.#owner = owner;
    this.#codec = options.codec ?? msgpack;
    this.#WebSocket = options.WebSocket ?? globalThis.WebSocket;
    this.now = options.now ?? (() => performance.now());
    this.#chance = options.chance ?? Math.random;
    this.#backoff = new Backoff(this.#chance);
  }

  /** Send it on this connection. It is lost if there is none that stands. */
  post(message: unknown): void {
    if (this.state === "up") this.#write(message);
  }

  /** The first attempt, or one at once. */
  connect(): void {
    this.#drop();
    this.#goAt = this.retryAt = null;
    this.#since = this.now();
    let socket: WebSocket;
    try {
      socket = new this.#WebSocket(this.#url, [this.#codec.subprotocol]);
    } catch (error) {
      this.#end({ code: 0, name: "bad_address", params: {}, hint: String(error), mayReturn: false });
      return;
    }
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.#greet();
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.#take(event.data);
    socket.onclose = (event) => this.#closed(event.code);
    // Some platforms tell of a refused handshake by an error alone. Where a close follows, it comes to the same.
    socket.onerror = () => socket.readyState !== OPEN && this.#closed(NO_CLOSE);
    this.#watch = setTimeout(() => this.#away(), WELCOME_MS);
  }

  /** The device woke up, the network is back, or a person wants to return: do not wait any longer. */
  reconnectNow(): void {
    if (this.state === "up") this.#ping(WAKING_MS);
    else if (this.state === "ended") {
      if (!this.ending?.mayReturn) return;
      this.ending = null;
      this.state = "connecting";
      this.#backoff.reset();
      this.connect();
      this.#owner.changed();
    } else if (this.#socket === null || this.now() - this.#since > WAKING_MS) {
      this.connect();
      this.#owner.changed();
    }
  }

  /** Greet anew at once, also after an end. */
  restart(): void {
    // A socket that is not open yet has sent no greeting.
    if (this.#socket?.readyState === CONNECTING) return;
    this.ending = this.trouble = null;
    this.state = "connecting";
    this.#backoff.reset();
    this.connect();
    this.#owner.changed();
  }

  /** Leave for good. */
  close(): void {
    if (this.state === "ended") return;
    if (this.#socket?.readyState === CONNECTING) {
      closeOnceOpen(this.#socket);
      this.#socket = null;
    }
    this.#end({ code: 1000, name: "done", params: {}, hint: "", mayReturn: false });
  }

  #greet(): void {
    try {
      this.#write(this.#owner.greeting());
    } catch (error) {
      // A token or key that no message can hold will be none the next time either.
      this.#end({ code: 0, name: "malformed_message", params: {}, hint: String(error), mayReturn: false });
    }
  }

  #take(data: string | ArrayBuffer): void {
    this.#heard += 1;
    const socket = this.#socket;
    let fault: string | null;
    try {
      const message = this.#codec.decode(data);
      this.#note(Array.isArray(message) ? message : []);
      fault = this.#owner.take(message);
    } catch (error) {
      fault = String(error);
      this.#owner.fault(fault);
      // Nonsense is the server's affair, anything else is ours and should be seen.
      if (!(error instanceof CodecError))
        queueMicrotask(() => {
          throw error;
        });
    }
    // A listener may have closed the line meanwhile.
    if (fault !== null && socket === this.#socket) this.#away();
  }

  /** Messages about the line itself, equal for rooms and the lobby. */
  #note([name, first, second, third]: unknown[]): void {
    this.#error = null;
    if (name === "welcome" && this.state !== "up") {
      this.state = "up";
      this.trouble = null;
      this.#since = this.now();
      this.#later(PING_MS);
    } else if (name === "error") this.#error = { params: (second ?? {}) as Params, hint: String(third) };
    else if (name === "go" && typeof first === "number") this.#leave(first);
  }

  /** This server is about to stop: come back at a moment of our own, so that not all come at once. */
  #leave(withinMs: number): void {
    if (this.#goAt !== null) return;
    const wait = this.#chance() * withinMs;
    this.#goAt = this.now() + wait;
    this.#go = setTimeout(() => {
      this.state = "away";
      this.connect();
      this.#owner.changed();
    }, wait);
  }

  #later(wait: number): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#ping(PONG_MS), wait);
  }

  /** Browsers do not notice a connection that died without a close; a ping without an answer does. */
  #ping(patience: number): void {
    const heard = this.#heard;
    this.post(this.#owner.ping());
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => (this.#heard === heard ? this.#away() : this.#later(PING_MS)), patience);
  }

  #closed(code: number): void {
    const close = closeOf(code);
    const { params, hint } = this.#error ?? { params: {}, hint: "" };
    const ending = { code, name: close.name, params, hint, mayReturn: close.byHand };
    if (!close.again) return this.#end(ending);
    this.trouble = ending;
    this.#away(params["retry_ms"]);
  }

  #away(atLeast?: number | string): void {
    if (this.state === "up" && this.now() - this.#since >= STEADY_MS) this.#backoff.reset();
    const goAt = this.#goAt;
    this.#drop();
    this.state = "away";
    // The moment was drawn when the server said go, so it is awaited, not drawn again.
    const wait =
      goAt !== null ? Math.max(0, goAt - this.now()) : this.#backoff.nextMs(typeof atLeast === "number" ? atLeast : 0);
    this.retryAt = this.now() + wait;
    this.#retry = setTimeout(() => {
      this.connect();
      this.#owner.changed();
    }, wait);
    this.#owner.changed();
  }

  #end(ending: Ending): void {
    this.#drop();
    this.state = "ended";
    this.ending = ending;
    this.retryAt = null;
    this.#owner.changed();
  }

  /** Done with this socket, whatever it still has to say: closing a dead one can take a minute. */
  #drop(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#watch);
    clearTimeout(this.#go);
    const socket = this.#socket;
    this.#socket = null;
    this.#goAt = null;
    this.#error = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    try {
      socket.close(1000);
    } catch {
      // It was closed already.
    }
  }

  #write(message: unknown): void {
    const data = this.#codec.encode(message);
    this.#socket?.send(data as string);
  }
}

/** Browsers report a socket as failed if it is closed before it is open. */
function closeOnceOpen(socket: WebSocket): void {
  const patience = setTimeout(() => socket.close(1000), WELCOME_MS);
  socket.onopen = () => {
    clearTimeout(patience);
    socket.close(1000);
  };
  socket.onmessage = null;
  socket.onclose = socket.onerror = () => clearTimeout(patience);
}
