/** The live list of rooms, kept up to date over any number of breaks (P-140 to P-146). */

import { asRead } from "./codec.ts";
import { Emitter } from "./emitter.ts";
import { Line, type LineOptions } from "./line.ts";
import { isMap, mergePatch } from "./merge_patch.ts";
import { readLobby } from "./messages.ts";
import { LEVEL } from "./replay.ts";
import type { Document, Ending, LineState, ListedRoom, LobbyFilter } from "./types.ts";

export interface LobbyOptions extends LineOptions {
  origin: string;
  token: string;
  filter?: LobbyFilter | undefined;
}

/** The list of rooms. It connects by itself; `state` tells how that goes. */
export function lookAtLobby(options: LobbyOptions): Lobby {
  return new Lobby(options);
}

/** The rooms that this client wants to see. Made by `lookAtLobby`. */
export class Lobby {
  readonly #line: Line;
  readonly #changes = new Emitter<void>();
  #filter: LobbyFilter;
  #list: Document = {};
  #paused = false;

  constructor(options: LobbyOptions) {
    this.#filter = asRead(options.filter ?? {});
    const owner = {
      greeting: () => this.#greeting(options.token),
      ping: () => ["ping", 0],
      take: (document: unknown) => this.#take(document),
      fault: () => undefined, // the next welcome brings the whole list in any case
      changed: () => this.#changes.emit(),
    };
    this.#line = new Line(options.origin, "/v1/lobby", owner, options);
    this.#line.connect();
  }

  /** The listed rooms, by code. While the connection is away, the last known list. */
  get rooms(): Record<string, ListedRoom> {
    const rooms = this.#list["rooms"];
    return (isMap(rooms) ? rooms : {}) as unknown as Record<string, ListedRoom>;
  }

  /** Number of rooms behind this page that match. */
  get more(): number {
    const more = this.#list["more"];
    return typeof more === "number" ? more : 0;
  }

  /** The filter's `after` for the next page; empty if this is the last one. */
  get next(): string {
    const next = this.#list["next"];
    return typeof next === "string" ? next : "";
  }

  /** How many people are connected to the service, or null if that is not known. */
  get online(): number | null {
    const online = this.#list["online"];
    return typeof online === "number" ? online : null;
  }

  /** Whether the service cannot read its store, so that the list may be old. */
  get paused(): boolean {
    return this.#paused;
  }

  get state(): LineState {
    return this.#line.state;
  }

  get ending(): Ending | null {
    return this.#line.ending;
  }

  /** Why the connection is away, if the server said so: `restart`, `busy`, `store_unavailable`; otherwise `going_away`. */
  get trouble(): Ending | null {
    return this.#line.trouble;
  }

  get retryAt(): number | null {
    return this.#line.retryAt;
  }

  /** See other rooms from now on. Throws a `CodecError` if no message can hold such a filter. */
  choose(filter: LobbyFilter): void {
    this.#filter = asRead(filter);
    this.#line.post(["filter", this.#filter]);
  }

  /** Hear of every change. */
  on(listener: () => void): () => void {
    return this.#changes.on(listener);
  }

  reconnectNow(): void {
    this.#line.reconnectNow();
  }

  close(): void {
    this.#line.close();
  }

  #greeting(token: string): unknown {
    const greeting = { token, level: LEVEL };
    return ["hello", Object.keys(this.#filter).length ? { ...greeting, filter: this.#filter } : greeting];
  }

  #take(document: unknown): string | null {
    const message = readLobby(document);
    if (message?.[0] === "welcome") {
      this.#paused = false;
      this.#list = message[1].list;
    } else if (message?.[0] === "reset") this.#list = message[1];
    else if (message?.[0] === "patch") this.#list = mergePatch(this.#list, message[1]);
    else if (message?.[0] === "paused") this.#paused = message[1];
    else return null;
    this.#changes.emit();
    return null;
  }
}
