/** The chat of a room, and the people whom this player has muted. */
import type { Table, TableEvent } from "towerhall-client";

import { isMap, keep, kept } from "../app/kept";

export interface Line {
  id: string;
  name: string;
  seat: number | null;
  text: string;
  wallMs: number;
  /** The id of the speaker in this room; names may be shared. Empty in rooms of older servers. */
  who: string;
}

export interface Shown {
  id: number;
  name: string;
  seat: number | null;
  emote: string;
  who: string;
}

export const EMOTES = ["hello", "thanks", "sorry", "well_played", "good_game", "oops", "wow", "laugh", "hurry", "thinking"] as const;
const SHOWN_MS = 4500;
const MOST_LINES = 300;
/** Number of rooms whose last read line this browser keeps. */
const MOST_ROOMS = 60;

export class Talk {
  lines = $state.raw<readonly Line[]>([]);
  emotes = $state.raw<readonly Shown[]>([]);
  /** Names by id: whom this player has muted. */
  muted = $state.raw<ReadonlyMap<string, string>>(new Map());
  /** By id: whom this person has blocked (P-207). */
  blocked = $state.raw<ReadonlySet<string>>(new Set());
  /** Whether the chat is visible now. */
  isOpen = $state(false);
  /** The id of the newest line that was visible, here or in an earlier visit. */
  #read = $state.raw("");
  readonly heard = $derived(this.lines.filter((line) => this.#hears(line.who)));
  readonly unread = $derived(this.heard.filter((line) => !this.isMine(line) && byTime(line, { id: this.#read }) > 0).length);
  readonly #table: Table;
  readonly #code: string;
  #last = 0;

  constructor(table: Table, code: string) {
    this.#table = table;
    this.#code = code;
    this.#read = readLines()[code] ?? "";
  }

  say(text: string): void {
    // A field that is full may have cut the last emoji in two.
    this.#table.chat(text.replace(/\p{Surrogate}/gu, ""));
  }

  show(emote: string): void {
    this.#table.emote(emote);
  }

  /** Mute a person, or hear them again. It goes by id, so another name changes nothing, and stays in this window. */
  toggleMute(who: string, name: string): void {
    const muted = new Map(this.muted);
    if (!muted.delete(who)) muted.set(who, name);
    this.muted = muted;
  }

  /** Show nothing more of these people. */
  block(ids: Iterable<string>): void {
    this.blocked = new Set([...this.blocked, ...ids]);
    this.emotes = this.emotes.filter(({ who }) => this.#hears(who));
  }

  #hears(who: string): boolean {
    return !this.muted.has(who) && !this.blocked.has(who);
  }

  isMine({ who, seat }: { who: string; seat: number | null }): boolean {
    return who === "" ? seat !== null && seat === this.#table.seat : who === this.#table.you;
  }

  open(isOpen: boolean): void {
    this.isOpen = isOpen;
    this.#see();
  }

  hear(event: TableEvent): void {
    if (event.kind === "chat") this.#add({ id: event.id, name: event.name, seat: event.seat, text: event.text, wallMs: event.wallMs, who: event.who });
    if (event.kind === "emote" && this.#hears(event.who)) this.#flash(event);
  }

  #add(line: Line): void {
    this.lines = [...this.lines, line].sort(byTime).slice(-MOST_LINES);
    this.#see();
  }

  /** All lines are read if the chat is visible. */
  #see(): void {
    const newest = this.lines.at(-1);
    if (!this.isOpen || !newest || byTime(newest, { id: this.#read }) <= 0) return;
    this.#read = newest.id;
    const { [this.#code]: _, ...others } = readLines();
    keep("chats", { ...Object.fromEntries(Object.entries(others).slice(1 - MOST_ROOMS)), [this.#code]: newest.id });
  }

  #flash({ name, seat, emote, who }: Omit<Shown, "id">): void {
    const id = ++this.#last;
    const others = this.emotes.filter((each) => each.who !== who || each.name !== name);
    this.emotes = [...others, { id, name, seat, emote, who }];
    setTimeout(() => (this.emotes = this.emotes.filter((each) => each.id !== id)), SHOWN_MS);
  }
}

/** The newest read line of each room, by code. */
function readLines(): Record<string, string> {
  return kept("chats", {}, (value): value is Record<string, string> => isMap(value) && Object.values(value).every((id) => typeof id === "string"));
}

/** Ids are `milliseconds-number` and sort by these two (P-93). */
export function byTime(a: { id: string }, b: { id: string }): number {
  const [aMs = 0, aN = 0] = a.id.split("-").map(Number);
  const [bMs = 0, bN = 0] = b.id.split("-").map(Number);
  return aMs - bMs || aN - bN;
}
