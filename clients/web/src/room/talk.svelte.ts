/** What people say in a room, and whom this player does not want to hear. */
import type { Table, TableEvent } from "towerhall-client";

export interface Line {
  id: string;
  name: string;
  seat: number | null;
  text: string;
  wallMs: number;
}

export interface Shown {
  id: number;
  name: string;
  seat: number | null;
  emote: string;
}

export const EMOTES = ["hello", "thanks", "sorry", "well_played", "good_game", "oops", "wow", "laugh", "hurry", "thinking"] as const;
const SHOWN_MS = 4500;
const MOST_LINES = 300;

export class Talk {
  lines = $state.raw<readonly Line[]>([]);
  emotes = $state.raw<readonly Shown[]>([]);
  muted = $state.raw<ReadonlySet<string>>(new Set());
  unread = $state(0);
  /** Whether somebody looks at the chat just now. */
  isOpen = $state(false);
  readonly heard = $derived(this.lines.filter((line) => !this.muted.has(line.name)));
  readonly #table: Table;
  #last = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  say(text: string): void {
    // A field that is full may have cut the last emoji in two.
    this.#table.chat(text.replace(/\p{Surrogate}/gu, ""));
  }

  show(emote: string): void {
    this.#table.emote(emote);
  }

  /** Mute somebody, or hear them again. It stays in this window. */
  toggleMute(name: string): void {
    const muted = new Set(this.muted);
    if (!muted.delete(name)) muted.add(name);
    this.muted = muted;
  }

  open(isOpen: boolean): void {
    this.isOpen = isOpen;
    if (isOpen) this.unread = 0;
  }

  hear(event: TableEvent): void {
    if (event.kind === "chat") this.#add({ id: event.id, name: event.name, seat: event.seat, text: event.text, wallMs: event.wallMs });
    if (event.kind === "emote" && !this.muted.has(event.name)) this.#flash(event.name, event.seat, event.emote);
  }

  #add(line: Line): void {
    this.lines = [...this.lines, line].sort(byTime).slice(-MOST_LINES);
    const isMine = line.seat !== null && line.seat === this.#table.seat;
    if (!this.isOpen && !isMine && !this.muted.has(line.name)) this.unread += 1;
  }

  #flash(name: string, seat: number | null, emote: string): void {
    const id = ++this.#last;
    this.emotes = [...this.emotes.filter((each) => each.name !== name), { id, name, seat, emote }];
    setTimeout(() => (this.emotes = this.emotes.filter((each) => each.id !== id)), SHOWN_MS);
  }
}

/** Ids are `milliseconds-number` and sort by these two (P-93). */
export function byTime(a: { id: string }, b: { id: string }): number {
  const [aMs = 0, aN = 0] = a.id.split("-").map(Number);
  const [bMs = 0, bN = 0] = b.id.split("-").map(Number);
  return aMs - bMs || aN - bN;
}
