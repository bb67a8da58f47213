/**
 * Old frames, asked for page by page until all have come, over breaks and refusals.
 *
 * The server answers in any order and names no request, and its errors may be about any message (P-90). Therefore a page is taken
 * only if it fits, and after an error that may be about another message, the page is both waited for and, after a while,
 * asked for again: then two answers may come, and the second one must be ignored.
 */

import { asRead } from "./codec.ts";
import { ServiceError } from "./errors.ts";
import type { Update } from "./replay.ts";
import type { Frame, Params } from "./types.ts";

const ASK_AGAIN = ["too_many", "store_unavailable"];
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
  /** One page is waited for at most: that of the first wish. */
  readonly #wishes: Wish[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #up = false;

  constructor(post: (message: unknown) => void) {
    this.#post = post;
  }

  /**
   * The frames of that range, both ends included, as far as there are any. `ServiceError` if it begins outside of the log,
   * `CodecError` if these are no whole numbers.
   */
  frames(first: number, last: number): Promise<Frame[]> {
    return new Promise((resolve, reject) => {
      asRead(["history", first, last]);
      this.#wishes.push({ first, last, found: [], resolve, reject });
      if (this.#wishes.length === 1) this.#ask();
    });
  }

  /** The line is up, or is down. Pages that were under way on another connection are requested again. */
  line(up: boolean): void {
    if (up === this.#up) return;
    this.#up = up;
    if (up) this.#ask();
  }

  /** Something happened on the line; it may be the answer. */
  happened(update: Update): void {
    const wish = this.#wishes[0];
    if (!wish) return;
    if (update.kind === "history" && isAnswered(wish, update.frames, update.last)) this.#page(wish, update.frames);
    else if (update.kind === "error" && ASK_AGAIN.includes(update.code)) {
      const wait = update.params["retry_ms"];
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#ask(), typeof wait === "number" ? wait : PAUSE_MS);
    } else if (update.kind === "reset") this.#ask(); // the page may have been left out (P-74)
    else if (update.kind === "error" && isRefused(wish, update.code, update.params)) {
      // If the log ends where the last page did, that was all there is.
      if (wish.found.length && update.params["last"] === wish.first - 1) wish.resolve(wish.found);
      else wish.reject(new ServiceError(update.code, update.hint, 0, update.params));
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

/**
 * Whether a page begins where the wish does, and has nothing beyond its end. An empty one begins nowhere, but ends where the
 * wish might: there is no more than that.
 */
function isAnswered({ first, last }: Wish, frames: Frame[], end: number): boolean {
  const [oldest, newest] = [frames[0], frames.at(-1)];
  if (oldest && newest && (oldest.seq !== first || newest.seq > last)) return false;
  return first - 1 <= end && end <= last;
}

/** Whether such an error is, or would as well be, the answer to the wish. */
function isRefused({ first }: Wish, code: string, params: Params): boolean {
  const newest = params["last"];
  const outside = typeof newest !== "number" || first < 1 || first > newest;
  return code === "room_gone" || (code === "bad_range" && outside);
}
