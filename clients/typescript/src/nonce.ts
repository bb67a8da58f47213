/**
 * The nonce that a client adds to a deal: drawn, sealed, and opened when it is due.
 *
 * Only its hash is shown before the deal is sealed, and it counts once the server has accepted the command that showed it.
 * No nonce is used twice: an opened one is no secret any more.
 */

import { base64url, fromBase64url } from "./bytes.ts";
import { NONCE_BYTES, nonceHash, UID_BYTES } from "./fairness.ts";
import { isMap } from "./merge_patch.ts";
import type { Command, Document, Value } from "./types.ts";

/** Storage in which a nonce outlives the page that drew it, such as `localStorage`. */
export interface Keep {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export class SealedNonce {
  readonly #randomBytes: (size: number) => Uint8Array;
  readonly #keep: Keep | null;
  readonly #shown = new Map<number, Uint8Array>();
  #nonce: Uint8Array | null = null;
  #triedAt: number | null = null;
  #mendedAt: number | null = null;

  constructor(randomBytes: (size: number) => Uint8Array, keep: Keep | null = null) {
    this.#randomBytes = randomBytes;
    this.#keep = keep;
  }

  /** A fresh nonce for this room, or null while the room is unknown. */
  draw(view: Document): Uint8Array | null {
    return uidOf(view) && this.#randomBytes(NONCE_BYTES);
  }

  /** The hash of it, as commands carry it. */
  hash(view: Document, nonce: Uint8Array): string {
    return base64url(nonceHash(uidOf(view)!, nonce));
  }

  /** Command n carries the hash of this one. */
  show(n: number, nonce: Uint8Array): void {
    this.#shown.set(n, nonce);
  }

  /** Command n was done, or was not. */
  settle(n: number, body: Command, done: boolean, view: Document): void {
    const nonce = this.#shown.get(n);
    this.#shown.delete(n);
    if (!done) return;
    if (nonce) this.#know(nonce, view);
    else if (body.command === "stand") this.#know(null, view);
    else if (body.command === "open") this.#forgetKept(view);
  }

  /** Whether the room waits for this very nonce, or will when it starts. */
  isSealed(view: Document, seat: number | null): boolean {
    return this.#nonce !== null && isSealed(view, seat);
  }

  /**
   * Whether the seat shows a hash whose nonce was drawn elsewhere: before this page was loaded again, or on another device.
   * No client could open it, and the seat would be lost at the deal, so a fresh one has to be shown while there is time. True
   * once for each view, like `opening`.
   */
  isOrphaned(view: Document, seat: number | null, seq: number): boolean {
    if (this.#nonce !== null || room(view)["status"] !== "waiting" || !isSealed(view, seat)) return false;
    const isNew = this.#mendedAt !== seq;
    this.#mendedAt = seq;
    return isNew;
  }

  /** The command that opens it, if that is due now. */
  opening(view: Document, seat: number | null, seq: number): Command | null {
    if (room(view)["status"] !== "sealed" || !isSealed(view, seat)) return null;
    this.#nonce ??= this.#kept(view);
    // Once for each view: a refusal does not change by asking again.
    if (this.#nonce === null || this.#triedAt === seq) return null;
    this.#triedAt = seq;
    return { command: "open", nonce: base64url(this.#nonce) };
  }

  /** The view was replaced: whatever was tried may be due once more. */
  lookAgain(): void {
    this.#triedAt = this.#mendedAt = null;
  }

  #know(nonce: Uint8Array | null, view: Document): void {
    this.#nonce = nonce;
    if (nonce) this.#storing((keep) => keep.setItem(keyOf(view), base64url(nonce)));
    else this.#forgetKept(view);
  }

  #forgetKept(view: Document): void {
    this.#storing((keep) => keep.removeItem(keyOf(view)));
  }

  #kept(view: Document): Uint8Array | null {
    const text = this.#storing((keep) => keep.getItem(keyOf(view)));
    return typeof text === "string" ? bytesOf(text, NONCE_BYTES) : null;
  }

  /** A store may be full or forbidden: then the nonce lives as long as the page. */
  #storing<Result>(act: (keep: Keep) => Result): Result | null {
    try {
      return this.#keep && act(this.#keep);
    } catch {
      return null;
    }
  }
}

export function room(view: Document): Document {
  const found = view["room"];
  return isMap(found) ? found : {};
}

/** The holder of that seat in the view. */
export function holder(view: Document, seat: number | null): Document {
  const seats = room(view)["seats"];
  const found: Value | undefined = isMap(seats) ? seats[String(seat)] : undefined;
  return isMap(found) ? found : {};
}

function isSealed(view: Document, seat: number | null): boolean {
  return holder(view, seat)["nonce"] === "sealed";
}

function keyOf(view: Document): string {
  return `towerhall.nonce.${String(room(view)["uid"])}`;
}

function uidOf(view: Document): Uint8Array | null {
  const text = room(view)["uid"];
  return typeof text === "string" ? bytesOf(text, UID_BYTES) : null;
}

function bytesOf(text: string, size: number): Uint8Array | null {
  try {
    const bytes = fromBase64url(text);
    return bytes.length === size ? bytes : null;
  } catch {
    return null;
  }
}
