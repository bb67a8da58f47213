/**
 * What a client keeps of a room, and how it is compared with the record (P-87): as in `evidence.py`.
 *
 * A record alone can only show that it fits together. That it is the game which this client saw, the client shows with what it
 * kept: the commitment, its own nonces, and chains that the server told. A `Collector` gathers it from what a `Replay` takes in.
 */

import { base64url, utf8 } from "./bytes.ts";
import { canonicalJson } from "./chain.ts";
import { isMap, mergePatch } from "./merge_patch.ts";
import type { Arrival } from "./messages.ts";
import { type Keep, room } from "./nonce.ts";
import { sha256 } from "./sha256.ts";
import type { Document, Fact, GameRecord } from "./types.ts";

/** Places with a reason or a signature that are kept. */
const MOST_MARKED = 64;
/** Places without either that are kept besides the first one: the newest. */
const MOST_OTHERS = 32;
/** Rooms of which evidence is kept on a device: the newest. */
const MOST_ROOMS = 60;
const INDEX = "towerhall.evidence";

/** The server said that the log led to this chain at this seq. */
export interface Place {
  seq: number;
  chain: string;
  key?: string;
  signature?: string;
  /** The hash of the view at that seq, if spectators saw the same. */
  view?: string;
  /** `seal`: a deal was sealed there. `end`: the room ended there. */
  why?: "seal" | "end";
}

/** What a client keeps of one room. */
export interface Evidence {
  uid: string;
  code: string;
  commitment: string;
  /** By deal: the nonce that this client opened. */
  nonces?: Record<string, string>;
  /** By seq. Two of one seq: the server said two different things. */
  places?: Place[];
}

/** Something in a record is not what this client saw: at a seq, in a deal, or as a whole (0). */
export interface Difference {
  code: "room" | "commitment" | "nonce" | "chain" | "view" | "short" | "long";
  at: number;
}

/** The evidence with one more place, in bounded size. */
export function withPlace(evidence: Evidence, place: Place): Evidence {
  const known = evidence.places ?? [];
  const at = known.findIndex(({ seq, chain }) => seq === place.seq && chain === place.chain);
  const places = at < 0 ? [...known, place] : known.with(at, joinedPlace(known[at]!, place));
  places.sort((one, other) => one.seq - other.seq);
  const rest = places.slice(1);
  const isMarked = ({ why, signature }: Place): boolean => Boolean(why ?? signature);
  const kept = new Set([
    ...rest.filter(isMarked).slice(-MOST_MARKED),
    ...rest.filter((each) => !isMarked(each)).slice(-MOST_OTHERS),
  ]);
  return { ...evidence, places: [places[0]!, ...rest.filter((each) => kept.has(each))] };
}

/** The evidence with the nonce that this client opened for a deal. */
export function withNonce(evidence: Evidence, deal: number, nonce: string): Evidence {
  return { ...evidence, nonces: { ...evidence.nonces, [String(deal)]: nonce } };
}

/** What is kept of a view. */
export function viewHash(view: Document): string {
  return base64url(sha256(utf8(canonicalJson(view))));
}

/** What a record disagrees about with what this client saw. Whether the record fits together is for others to check. */
export function compare(evidence: Evidence, record: Pick<GameRecord, "uid" | "code" | "commits" | "frames" | "proof">): Difference[] {
  if (record.uid !== evidence.uid || record.code !== evidence.code) return [{ code: "room", at: 0 }];
  const found: Difference[] = [];
  if (record.proof.commitment !== evidence.commitment) found.push({ code: "commitment", at: 0 });
  for (const [deal, nonce] of Object.entries(evidence.nonces ?? {})) {
    const isThere = record.proof.deals.some((one) => String(one.deal) === deal && one.seats.some((hand) => hand.nonce === nonce));
    if (!isThere) found.push({ code: "nonce", at: Number(deal) });
  }
  const places = evidence.places ?? [];
  const views = viewsOf(record, new Set(places.filter(({ view }) => view).map(({ seq }) => seq)));
  for (const { seq, chain, view, why } of places) {
    const row = record.commits[seq - 1];
    if (!row) {
      found.push({ code: "short", at: seq });
      continue;
    }
    if (row[2] !== chain) found.push({ code: "chain", at: seq });
    if (view && views.get(seq) !== view) found.push({ code: "view", at: seq });
    if (why === "end" && seq < record.commits.length) found.push({ code: "long", at: seq });
  }
  return found;
}

/** Gathers evidence while a room is watched. */
export class Collector {
  evidence: Evidence | null = null;
  #isShared = false;
  /** Whether the room has ended: what comes after that is in no record. */
  #isOver = false;
  /** Why the newest commit is kept. */
  #why: "seal" | "end" | null = null;
  /** Places that were told before the view is there. */
  readonly #awaited = new Map<number, Place>();
  readonly #opening = new Map<number, [deal: number, nonce: string]>();
  readonly #keep: Keep | null;

  constructor(keep: Keep | null) {
    this.#keep = keep;
  }

  /** A connection stands, with this view. */
  arrive(view: Document, { shared = false, chain, cursor, seat }: Arrival): void {
    this.#isShared = shared;
    this.#awaited.clear();
    this.replace(view);
    if (!chain || this.#isOver) return;
    this.#awaited.set(chain[0], { seq: chain[0], chain: chain[1] });
    this.#settle(cursor[1], view, seat ?? -1);
  }

  /** Another view is shown instead of the one before. */
  replace(view: Document): void {
    const { uid, code, commitment, status } = room(view);
    if (!this.evidence && typeof uid === "string" && typeof code === "string" && typeof commitment === "string")
      this.evidence = keptEvidence(uid, this.#keep) ?? { uid, code, commitment };
    this.#isOver = status === "over";
    this.#why = null;
  }

  /** A commit was added to the view. */
  move(seq: number, facts: readonly Fact[], view: Document, seat: number | null): void {
    const wasOver = this.#isOver;
    this.#why = null;
    this.#isOver = room(view)["status"] === "over";
    if (wasOver) this.#awaited.clear();
    else if (this.#isOver) this.#why = "end";
    else if (facts.some(([name]) => name === "sealed")) this.#why = "seal";
    this.#settle(seq, view, seat ?? -1);
  }

  /** The server told the chain, while the view is at that seq. */
  tell(place: Place, seq: number, view: Document, seat: number | null): void {
    if (this.#isOver && !(this.#why === "end" && place.seq === seq)) return;
    this.#awaited.set(place.seq, place);
    this.#settle(seq, view, seat ?? -1);
  }

  /** Command n opens a nonce. */
  open(n: number, view: Document, nonce: string): void {
    const deal = room(view)["deal"];
    if (typeof deal === "number") this.#opening.set(n, [deal, nonce]);
  }

  /** Command n was done, or was not. */
  opened(n: number, done: boolean): void {
    const opening = this.#opening.get(n);
    this.#opening.delete(n);
    if (done && opening && this.evidence) this.#know(withNonce(this.evidence, ...opening));
  }

  /** Keep a place that the view has reached, or has passed by. */
  #settle(seq: number, view: Document, seat: number): void {
    for (const [number, place] of this.#awaited) {
      if (number > seq) continue;
      this.#awaited.delete(number);
      if (!this.evidence) continue;
      const seen: Partial<Place> = {};
      if (number === seq && (this.#isShared || seat < 0)) seen.view = viewHash(view);
      if (number === seq && this.#why) seen.why = this.#why;
      this.#know(withPlace(this.evidence, { ...place, ...seen }));
    }
  }

  #know(evidence: Evidence): void {
    this.evidence = evidence;
    keepEvidence(evidence, this.#keep);
  }
}

/** What this device has kept of that room. */
export function keptEvidence(uid: string, keep: Keep | null): Evidence | null {
  try {
    const found: unknown = JSON.parse(keep?.getItem(keyOf(uid)) ?? "null");
    return isMap(found) && found["uid"] === uid ? (found as unknown as Evidence) : null;
  } catch {
    return null;
  }
}

/** Keep it, and let go of the oldest rooms. A store may be full or forbidden: then nothing is kept. */
function keepEvidence(evidence: Evidence, keep: Keep | null): void {
  try {
    if (!keep) return;
    const known = (keep.getItem(INDEX) ?? "").split(" ").filter((uid) => uid && uid !== evidence.uid);
    for (const uid of known.splice(MOST_ROOMS - 1)) keep.removeItem(keyOf(uid));
    keep.setItem(INDEX, [evidence.uid, ...known].join(" "));
    keep.setItem(keyOf(evidence.uid), JSON.stringify(evidence));
  } catch {
    // A game goes on without it.
  }
}

function keyOf(uid: string): string {
  return `${INDEX}.${uid}`;
}

/** What two messages said of one place. */
function joinedPlace(one: Place, other: Place): Place {
  return one.signature ? { ...other, ...one } : { ...one, ...other };
}

/** The hashes of the views at some seqs, as frames of spectators lead to them. */
function viewsOf({ frames }: Pick<GameRecord, "frames">, wanted: ReadonlySet<number>): Map<number, string> {
  const found = new Map<number, string>();
  let view: Document = {};
  for (const [at, { patch }] of frames.entries()) {
    view = mergePatch(view, patch);
    if (wanted.has(at + 1)) found.set(at + 1, viewHash(view));
  }
  return found;
}
