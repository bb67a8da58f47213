/** A list that a server keeps up to date over any number of breaks: of rooms, or of one's own places (P-143 to P-146). */

import { Emitter } from "./emitter.ts";
import { Line, type LineOptions } from "./line.ts";
import { isMap, mergePatch } from "./merge_patch.ts";
import { readLobby } from "./messages.ts";
import type { Document, Ending, LineState } from "./types.ts";

/** `Room` is what the list has for each room. */
export class LiveList<Room> {
  protected readonly line: Line;
  readonly #changes = new Emitter<void>();
  #list: Document = {};
  #paused = false;

  constructor(origin: string, path: string, greeting: () => unknown, options: LineOptions) {
    const owner = {
      greeting,
      ping: () => ["ping", 0],
      take: (document: unknown) => this.#take(document),
      fault: () => undefined, // the next welcome brings the whole list in any case
      changed: () => this.#changes.emit(),
    };
    this.line = new Line(origin, path, owner, options);
  }

  /** The listed rooms, by code. While the connection is away, the last known list. */
  get rooms(): Record<string, Room> {
    const rooms = this.#list["rooms"];
    return (isMap(rooms) ? rooms : {}) as unknown as Record<string, Room>;
  }

  /** Number of further rooms that match, but are not shown. */
  get more(): number {
    return this.number("more") ?? 0;
  }

  /** Whether the service cannot read its store, so that the list may be old. */
  get paused(): boolean {
    return this.#paused;
  }

  get state(): LineState {
    return this.line.state;
  }

  get ending(): Ending | null {
    return this.line.ending;
  }

  /** Why the connection is away, if the server said so: `restart`, `busy`, `store_unavailable`; otherwise `going_away`. */
  get trouble(): Ending | null {
    return this.line.trouble;
  }

  get retryAt(): number | null {
    return this.line.retryAt;
  }

  /** Hear of every change. */
  on(listener: () => void): () => void {
    return this.#changes.on(listener);
  }

  reconnectNow(): void {
    this.line.reconnectNow();
  }

  close(): void {
    this.line.close();
  }

  /** A number beside the rooms, or null if there is none. */
  protected number(name: string): number | null {
    const found = this.#list[name];
    return typeof found === "number" ? found : null;
  }

  protected text(name: string): string | null {
    const found = this.#list[name];
    return typeof found === "string" ? found : null;
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
