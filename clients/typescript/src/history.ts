/** Old frames, asked for page by page until all have come, over breaks and refusals. */

import { ServiceError } from "./errors";
import type { Happening } from "./replay";
import type { Frame } from "./types";

const ASK_AGAIN = ["too_many", "store_unavailable"];
const NOT_GRANTED = ["bad_range", "room_gone"];
const PAUSE_MS = 1_000;

interface Wish {
  first: number;
  last: number;
  found: Frame[];
  resolve: (frames: Frame[]) => void;
  reject: (error: ServiceError) => void;
}

export class History {
  readonly #post: (message: unknown) => void;
  /** The server answers in order and one at a time, so one page is under way at most: that of the first wish. */
  readonly #wishes: Wish[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #up = false;

  constructor(post: (message: unknown) => void) {
    this.#post = post;
  }

  /** All frames of that range, both ends included. `ServiceError` if there is no such range. */
  frames(first: number, last: number): Promise<Frame[]> {
    return new Promise((resolve, reject) => {
      this.#wishes.push({ first, last, found: [], resolve, reject });
      if (this.#wishes.length === 1) this.#ask();
    });
  }

  /** The line is up, or is down. What was under way on another connection is asked for again. */
  line(up: boolean): void {
    if (up === this.#up) return;
    this.#up = up;
    if (up) this.#ask();
  }

  /** Something happened on the line; it may be the answer. */
  happened(happening: Happening): void {
    const wish = this.#wishes[0];
    if (!wish) return;
    if (happening.kind === "history") this.#page(wish, happening.frames);
    else if (happening.kind === "error" && ASK_AGAIN.includes(happening.code)) {
      const wait = happening.params["retry_ms"];
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#ask(), typeof wait === "number" ? wait : PAUSE_MS);
    } else if (happening.kind === "error" && NOT_GRANTED.includes(happening.code)) {
      wish.reject(new ServiceError(happening.code, happening.hint, 0, happening.params));
      this.#next();
    }
  }

  /** There will be no more answers. */
  end(error: ServiceError): void {
    clearTimeout(this.#timer);
    for (const wish of this.#wishes.splice(0)) wish.reject(error);
  }

  #page(wish: Wish, frames: Frame[]): void {
    const newest = frames.at(-1);
    // A page that begins elsewhere answers a question of another connection.
    if (newest && frames[0]!.seq !== wish.first) return;
    wish.found.push(...frames);
    if (newest && newest.seq < wish.last) {
      wish.first = newest.seq + 1;
      this.#ask();
      return;
    }
    wish.resolve(wish.found);
    this.#next();
  }

  #next(): void {
    this.#wishes.shift();
    this.#ask();
  }

  #ask(): void {
    clearTimeout(this.#timer);
    const wish = this.#wishes[0];
    if (!wish || !this.#up) return;
    if (wish.first > wish.last) {
      wish.resolve(wish.found);
      this.#next();
    } else this.#post(["history", wish.first, wish.last]);
  }
}
