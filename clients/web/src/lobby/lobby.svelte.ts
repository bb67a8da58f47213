/** The list of open rooms as the hall shows it: asked once over HTTP for the first paint, then live. */
import { lookAtLobby, type LineState, type ListedRoom, type Lobby, type LobbyFilter } from "towerhall-client";

import { session } from "../app/session.svelte";

export const SHOWS = ["waiting", "playing", "all"] as const;
export type Show = (typeof SHOWS)[number];

const FILTERS: Record<Show, LobbyFilter> = { waiting: { status: "waiting", free: 1 }, playing: { status: "playing" }, all: {} };
/** Rooms of a page: more of them take long to draw on a phone. */
const PAGE = 50;
const RETRY_MS = 5000;

export class OpenRoomList {
  rooms = $state.raw<readonly ListedRoom[]>([]);
  more = $state(0);
  /** Where the next page begins; empty on the last one. */
  next = $state("");
  /** Where this page begins; empty: at the beginning of the list. */
  after = $state("");
  /** People who are connected to the service; null if that is not known. */
  online = $state<number | null>(null);
  paused = $state(false);
  state = $state<LineState>("connecting");
  /** Whether any list has come yet. */
  known = $state(false);
  show = $state<Show>("waiting");
  #lobby: Lobby | null = null;
  #stopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(): () => void {
    this.#stopped = false;
    void this.#first();
    void this.#follow();
    return () => {
      this.#stopped = true;
      clearTimeout(this.#timer);
      this.#lobby?.close();
    };
  }

  choose(show: Show): void {
    this.show = show;
    this.turnTo("");
  }

  /** Show the page that begins there: `next`, or an empty text for the first one. */
  turnTo(after: string): void {
    this.after = after;
    this.next = "";
    this.#lobby?.choose(this.#filter());
  }

  reconnectNow(): void {
    this.#lobby?.reconnectNow();
  }

  async #first(): Promise<void> {
    try {
      const rooms = await session.service.rooms();
      if (!this.known && !this.#stopped) this.#take(rooms.filter((room) => fits(room, this.show)).slice(0, PAGE));
    } catch {
      // The socket tries as well, and its state is shown.
    }
  }

  async #follow(): Promise<void> {
    try {
      const token = await session.lookerToken();
      if (this.#stopped) return;
      const lobby = lookAtLobby({ origin: session.service.origin, token, filter: this.#filter() });
      this.#lobby = lobby;
      lobby.on(() => this.#read(lobby, token));
      this.#read(lobby, token);
    } catch {
      this.state = "away";
      if (!this.#stopped) this.#timer = setTimeout(() => void this.#follow(), RETRY_MS);
    }
  }

  #read(lobby: Lobby, token: string): void {
    this.state = lobby.state;
    this.paused = lobby.paused;
    if (lobby.state === "ended" && lobby.ending?.name === "unauthorized" && !this.#stopped) {
      lobby.close();
      void session.renew(token).then(() => this.#follow(), () => undefined);
    }
    if (lobby.state !== "up") return;
    this.more = lobby.more;
    this.next = lobby.next;
    this.online = lobby.online;
    this.#take(Object.values(lobby.rooms));
  }

  #filter(): LobbyFilter {
    return { ...FILTERS[this.show], limit: PAGE, ...(this.after ? { after: this.after } : {}) };
  }

  #take(rooms: readonly ListedRoom[]): void {
    this.known = true;
    this.rooms = [...rooms].sort(byInterest);
  }
}

function fits(room: ListedRoom, show: Show): boolean {
  if (show === "waiting") return room.status === "waiting" && room.taken < room.seats;
  return show === "all" || room.status === "playing";
}

/** Rooms with a free seat first, and among those the rooms with the fewest free seats. */
function byInterest(a: ListedRoom, b: ListedRoom): number {
  const open = (room: ListedRoom) => room.status === "waiting" && room.taken < room.seats;
  if (open(a) !== open(b)) return open(a) ? -1 : 1;
  return a.seats - a.taken - (b.seats - b.taken) || a.code.localeCompare(b.code);
}
