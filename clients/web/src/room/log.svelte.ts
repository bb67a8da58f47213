/** The events of the room, in order: commits with their context. They become words when they are shown. */
import type { Document, Fact, Frame, Table } from "towerhall-client";

import { castOf, type Cast } from "./say";
import { namesOf, roomOf } from "./view";

/** What one commit told. */
export interface Entry {
  seq: number;
  facts: readonly Fact[];
  cast: Cast;
  view: Document;
}

/** The parts of a table that the log needs. */
export type Told = Pick<Table, "seq" | "view" | "you" | "history">;

/** The parts of a log that its list shows. */
export type Lines = Pick<Log, "entries" | "isFilled" | "fillWhole">;

const MOST = 1_000;
/** Number of past frames that a late viewer reads. */
const PAST = 100;

export class Log {
  entries = $state.raw<readonly Entry[]>([]);
  /** Whether the past is there: before that the log would grow at both ends. */
  isFilled = $state(false);
  readonly #table: Told;
  /** All commits from this one on were asked for; null: none yet. */
  #from: number | null = null;

  constructor(table: Told) {
    this.#table = table;
  }

  add(frame: Frame, before: Document, after: Document): void {
    this.#join([this.#entryOf(frame, before, after)]);
  }

  /** Read what happened before this client came. */
  async fill(): Promise<void> {
    if (this.#from !== null) return;
    await this.#read(Math.max(1, this.#table.seq - PAST + 1), this.#table.seq);
  }

  /** Read the rest of the past too. */
  async fillWhole(): Promise<void> {
    if (this.#from === null || this.#from > 1) await this.#read(1, (this.#from ?? this.#table.seq + 1) - 1);
  }

  /** Commits after that one have been lost. */
  forget(seq: number): void {
    this.entries = this.entries.filter((entry) => entry.seq <= seq);
  }

  async #read(first: number, last: number): Promise<void> {
    const before = this.#from;
    const { view } = this.#table;
    this.#from = first;
    try {
      const frames = last >= first ? await this.#table.history(first, last) : [];
      // The views of the past are not worth computing: seats and names are the same ones as a rule.
      this.#join(frames.map((frame) => this.#entryOf(frame, view, view)));
    } catch {
      // The log begins later then.
      this.#from = before ?? last + 1;
    } finally {
      this.isFilled = true;
    }
  }

  #entryOf(frame: Frame, before: Document, after: Document): Entry {
    const [left, room] = [roomOf(before), roomOf(after)];
    const old = namesOf(left);
    const names = namesOf(room).map((name, seat) => name || old[seat] || "");
    return { seq: frame.seq, facts: frame.facts, cast: castOf(names, this.#table.you, room, left), view: after };
  }

  #join(more: readonly Entry[]): void {
    const known = new Set(this.entries.map((entry) => entry.seq));
    const fresh = more.filter((entry) => !known.has(entry.seq));
    if (fresh.length > 0) this.entries = [...this.entries, ...fresh].sort((a, b) => a.seq - b.seq).slice(-MOST);
  }
}

/** The whole log of a game that is over. As in `Log`, seats and names are those of one view, here the last one. */
export function linesOf(frames: readonly Frame[], end: Document): Lines {
  const room = roomOf(end);
  const cast = castOf(namesOf(room), "", room);
  const entries = frames.map(({ seq, facts }) => ({ seq, facts, cast, view: end }));
  return { entries, isFilled: true, fillWhole: async () => undefined };
}
