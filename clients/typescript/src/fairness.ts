/** Shuffles and dice that anyone can check afterwards: the recipe of P-80 to P-84, as in `fairness.py`. */

import { bigEndian, joined, utf8 } from "./bytes.ts";
import { hmacSha256, sha256 } from "./sha256.ts";

export const SECRET_BYTES = 32;
export const NONCE_BYTES = 32;
export const UID_BYTES = 16;
/** Stands in for the nonce of a bot, or of a client that gave none. */
export const NO_NONCE = new Uint8Array(NONCE_BYTES);

const WORDS = 2 ** 32;

/** The hash that the server publishes with a new room: it can no longer change the secret. */
export function commitment(uid: Uint8Array, secret: Uint8Array): Uint8Array {
  return sha256(joined(utf8("towerhall/1/commit\0"), sized(uid, UID_BYTES), sized(secret, SECRET_BYTES)));
}

/** The hash that a client gives when it sits down: it can no longer change its nonce. */
export function nonceHash(uid: Uint8Array, nonce: Uint8Array): Uint8Array {
  return sha256(joined(utf8("towerhall/1/nonce\0"), sized(uid, UID_BYTES), sized(nonce, NONCE_BYTES)));
}

/** The seed of one deal, from the server's secret and one nonce per seat, in seat order. */
export function gameSeed(secret: Uint8Array, uid: Uint8Array, deal: number, nonces: readonly Uint8Array[]): Uint8Array {
  const message = joined(
    utf8("towerhall/1/seed\0"),
    sized(uid, UID_BYTES),
    bigEndian(deal, 4),
    bigEndian(nonces.length, 1),
    ...nonces.map((nonce) => sized(nonce, NONCE_BYTES)),
  );
  return hmacSha256(sized(secret, SECRET_BYTES), message);
}

/** One random act of a game (a shuffle, a die): numbers read from its own stream of words. */
export class Act {
  readonly #prefix: Uint8Array;
  #block = 0;
  #words: number[] = [];

  constructor(seed: Uint8Array, number: number) {
    this.#prefix = joined(seed, bigEndian(number, 4));
  }

  /** A number 0..bound-1, each equally likely: words that would favour some are skipped. */
  below(bound: number): number {
    if (!(Number.isInteger(bound) && bound >= 1 && bound <= WORDS)) throw new RangeError("a bound is 1 to 2^32");
    const limit = WORDS - (WORDS % bound);
    for (;;) {
      const word = this.#nextWord();
      if (word < limit) return word % bound;
    }
  }

  /** The items in random order. They are sorted first, so only the set of them matters. */
  shuffle<Item extends string | number>(items: readonly Item[]): Item[] {
    const cards = sorted(items);
    for (let last = cards.length - 1; last > 0; last -= 1) {
      const pick = this.below(last + 1);
      [cards[last], cards[pick]] = [cards[pick]!, cards[last]!];
    }
    return cards;
  }

  #nextWord(): number {
    if (!this.#words.length) {
      const digest = new DataView(sha256(joined(this.#prefix, bigEndian(this.#block, 4))).buffer);
      this.#words = Array.from({ length: 8 }, (_, at) => digest.getUint32(4 * (7 - at)));
      this.#block += 1;
    }
    return this.#words.pop()!;
  }
}

/** As P-84 sorts: text by its ASCII bytes, numbers by size. */
export function sorted<Item extends string | number>(items: readonly Item[]): Item[] {
  return [...items].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
}

function sized(value: Uint8Array, size: number): Uint8Array {
  // A field of another length would let two different inputs run together into the same bytes.
  if (value.length !== size) throw new RangeError(`expected ${size} bytes, got ${value.length}`);
  return value;
}
