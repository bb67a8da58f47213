/** What has happened, in order: facts with what they were told in. They become words when they are shown. */
import type { Document, Fact, Frame, Table } from "towerhall-client";

import { namesOf, roomOf } from "./view";

export interface Entry {
  id: string;
  seq: number;
  fact: Fact;
  names: readonly string[];
  view: Document;
}

const MOST = 400;
/** So much of the past is read when somebody comes in later. */
const PAST = 100;

export class Log {
  entries = $state.raw<readonly Entry[]>([]);
  /** Whether the past is there: before that nothing should be read aloud. */
  isFilled = $state(false);
  #asked = false;

  add(frame: Frame, before: Document, after: Document): void {
    this.#join(entriesOf(frame, before, after));
  }

  /** Read what happened before this client came. */
  async fill(table: Table): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    const { seq, view } = table;
    try {
      const frames = seq > 0 ? await table.history(Math.max(1, seq - PAST + 1), seq) : [];
      // The views of the past are not worth computing: seats and names are the same ones as a rule.
      this.#join(frames.flatMap((frame) => entriesOf(frame, view, view)));
    } catch {
      // The log begins here then.
    } finally {
      this.isFilled = true;
    }
  }

  /** Commits after that one have been lost. */
  forget(seq: number): void {
    this.entries = this.entries.filter((entry) => entry.seq <= seq);
  }

  #join(more: readonly Entry[]): void {
    const known = new Set(this.entries.map((entry) => entry.id));
    const fresh = more.filter((entry) => !known.has(entry.id));
    if (fresh.length > 0) this.entries = [...this.entries, ...fresh].sort((a, b) => a.seq - b.seq).slice(-MOST);
  }
}

function entriesOf(frame: Frame, before: Document, after: Document): Entry[] {
  // Whoever leaves is named in the view before, whoever comes in the one after.
  const old = namesOf(roomOf(before));
  const names = namesOf(roomOf(after)).map((name, seat) => name || old[seat] || "");
  return frame.facts.map((fact, at) => ({ id: `${frame.seq}.${at}`, seq: frame.seq, fact, names, view: after }));
}
