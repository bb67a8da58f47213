import { isMap } from "./merge_patch.ts";
import type { Update, Replay } from "./replay.ts";
import type { Document } from "./types.ts";

/** The service's clock as a client knows it: what it was last told, and the time that has passed here since then (P-64). */
export class ServiceClock {
  readonly #now: () => number;
  #served = 0;
  #toldAt = 0;
  #stands = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  happened({ kind }: Update, { now, paused }: Replay): void {
    if (kind === "synced" || kind === "pong") this.#set(now[1], paused);
    else if (kind === "paused") this.#set(this.#servedNow(), paused);
  }

  leftMs(view: Document): number | null {
    const clock = view["clock"];
    const due = isMap(clock) ? clock["due"] : undefined;
    return typeof due === "number" ? Math.max(0, due - this.#servedNow()) : null;
  }

  #servedNow(): number {
    return this.#stands ? this.#served : this.#served + this.#now() - this.#toldAt;
  }

  #set(served: number, stands: boolean): void {
    this.#served = served;
    this.#toldAt = this.#now();
    this.#stands = stands;
  }
}
