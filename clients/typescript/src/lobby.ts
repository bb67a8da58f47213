/** The live list of rooms, kept up to date over any number of breaks (P-140 to P-146). */

import { asRead } from "./codec.ts";
import type { LineOptions } from "./line.ts";
import { LiveList } from "./live_list.ts";
import { LEVEL } from "./replay.ts";
import type { ListedRoom, LobbyFilter } from "./types.ts";

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
export class Lobby extends LiveList<ListedRoom> {
  #filter: LobbyFilter;

  constructor(options: LobbyOptions) {
    super(options.origin, "/v1/lobby", () => this.#greeting(options.token), options);
    this.#filter = asRead(options.filter ?? {});
    this.line.connect();
  }

  /** The filter's `after` for the next page; empty if this is the last one. */
  get next(): string {
    return this.text("next") ?? "";
  }

  /** How many people are connected to the service, or null if that is not known. */
  get online(): number | null {
    return this.number("online");
  }

  /** See other rooms from now on. Throws a `CodecError` if no message can hold such a filter. */
  choose(filter: LobbyFilter): void {
    this.#filter = asRead(filter);
    this.line.post(["filter", this.#filter]);
  }

  #greeting(token: string): unknown {
    const greeting = { token, level: LEVEL };
    return ["hello", Object.keys(this.#filter).length ? { ...greeting, filter: this.#filter } : greeting];
  }
}
