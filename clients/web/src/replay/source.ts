/** The source of a replay's frames: a connected table, or a record. */
import { ServiceError, type Frame, type GameRecord, type Table } from "towerhall-client";

export interface ReplaySource {
  /** The viewer's seat, or null. */
  seat: number | null;
  /** Whether the game may still go on: then there is a way back to it. */
  live: boolean;
  /** All frames so far, from seq 1 on. */
  load(): Promise<Frame[]>;
  /** Tells every new frame (null: the past has changed, load again) until the answer is called. */
  follow(news: (frame: Frame | null) => void): () => void;
}

/** The parts of a table that a replay needs. */
export type Past = Pick<Table, "seat" | "seq" | "ending" | "history" | "on">;

export function sourceOfTable(table: Past): ReplaySource {
  return {
    get seat() {
      return table.seat;
    },
    live: true,
    load: async () => {
      await entered(table);
      return table.history(1);
    },
    follow: (news) =>
      table.on((event) => {
        if (event.kind === "frame") news(event.frame);
        if (event.kind === "reset") news(null);
      }),
  };
}

/** Until the room's first view has come; fails if it never will. */
function entered(table: Past): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = table.on(look);
    look();
    function look(): void {
      if (!table.ending && !table.seq) return;
      // The listener may be called before `on` has answered.
      queueMicrotask(() => stop());
      if (table.ending) reject(new ServiceError(table.ending.name, table.ending.hint, 0, table.ending.params));
      else resolve();
    }
  });
}

export function sourceOfRecord(record: GameRecord): ReplaySource {
  return { seat: null, live: false, load: async () => record.frames, follow: () => () => undefined };
}
