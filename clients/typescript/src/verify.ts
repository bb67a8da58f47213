/**
 * Checking the shuffle of a finished game without trusting whoever made the record (P-86, P-121).
 *
 * What needs the rules of a game is not checked here: that the cards on the table are those that were drawn is for whoever
 * knows the game, and `towerhall verify` decides every move again and draws every view anew.
 */

import { base64url, bigEndian, fromBase64url, joined } from "./bytes";
import { blake2b } from "./blake2b";
import { same } from "./equality";
import { Act, commitment, gameSeed, NO_NONCE, nonceHash, sorted } from "./fairness";
import { room } from "./nonce";
import { CHAIN_BYTES } from "./record";
import { isTold, readCommit } from "./stored";
import { Timeline } from "./timeline";
import type { Check, Document, Fact, GameRecord } from "./types";

const MARK_BYTES = 8;

/** What a check found: what it looked at, and where something is wrong, if anything is: a place by its number, or a part. */
interface Found {
  where: Document | null;
  detail: Document;
}

/** All checks, in the order in which the proof is built. Each says for itself whether it holds. */
export async function verifyShuffle(record: GameRecord): Promise<Check[]> {
  const checks: [name: string, check: (record: GameRecord) => Found][] = [
    ["commitment", checkCommitment],
    ["deals", checkDeals],
    ["nonces", checkNonces],
    ["seed", checkSeeds],
    ["draws", checkDraws],
    ["chain", checkChain],
    ["facts", checkFacts],
    ["result", checkResult],
  ];
  const found: Check[] = [];
  for (const [name, check] of checks) {
    // A long game takes a moment; the page may breathe in between.
    await Promise.resolve();
    const { where, detail } = attempt(() => check(record));
    found.push({ name, ok: where === null, detail: where === null ? detail : { ...detail, where } });
  }
  return found;
}

/** Numbers may be of any size in a file from anywhere; what cannot be computed does not hold. */
function attempt(check: () => Found): Found {
  try {
    return check();
  } catch (error) {
    return { where: { error: String(error) }, detail: {} };
  }
}

/** The server chose its secret before anybody sat down, and showed that very secret in the end. */
function checkCommitment(record: GameRecord): Found {
  const { secret, commitment: claimed } = record.proof;
  const created = record.frames[0]?.facts.find(([name]) => name === "room_created");
  const right = ["room_created", record.game, record.version, record.seats.length, record.uid, claimed];
  const revealed = factsOf(record, "secret_revealed");
  let where: Document | null = null;
  if (base64url(commitment(fromBase64url(record.uid), fromBase64url(secret))) !== claimed) where = { part: "secret" };
  else if (!same(created, right)) where = { frame: 1 };
  else if (!revealed.length || revealed.some(([, shown]) => shown !== secret)) where = { frame: record.frames.length };
  return { where, detail: { commitment: claimed, secret } };
}

/** Every deal before the last was cancelled for all to see, and the deals are those that the frames tell of. */
function checkDeals(record: GameRecord): Found {
  const { deals } = record.proof;
  const told = factsOf(record, "sealed").map(([, deal, hashes]) => [deal, hashes]);
  const claimed = deals.map(({ deal, seats }) => [deal, seats.map(({ nonce_hash }) => nonce_hash ?? "")]);
  const dealt = deals.filter(({ outcome }) => outcome === "dealt").map(({ deal }) => ["dealt", deal]);
  const cancelled = deals
    .filter(({ outcome }) => outcome === "cancelled")
    .map(({ deal, unseated = [] }) => ["deal_cancelled", deal, unseated]);
  const early = deals.findIndex(({ outcome }, at) => outcome !== "cancelled" && at < deals.length - 1);
  const misnumbered = deals.findIndex(({ deal }, at) => deal !== at + 1);
  let where: Document | null = null;
  if (!same(told, claimed)) where = { part: "deals" };
  else if (early >= 0 || misnumbered >= 0) where = { deal: Math.max(early, misnumbered) + 1 };
  else if (!same(factsOf(record, "deal_cancelled"), cancelled)) where = { part: "deals" };
  else if (!same(factsOf(record, "dealt"), dealt)) where = { part: "deals" };
  return { where, detail: { deals: deals.length, cancelled: cancelled.length } };
}

/** Every nonce is the one whose hash was shown before, and was opened where the frames say so. */
function checkNonces(record: GameRecord): Found {
  const uid = fromBase64url(record.uid);
  const opened = factsOf(record, "nonce_opened").map(([, seat, nonce]) => `${String(seat)} ${String(nonce)}`);
  const left = new Set(opened);
  const took: number[] = [];
  for (const { deal, outcome, seats } of record.proof.deals)
    for (const [seat, { nonce, nonce_hash }] of seats.entries()) {
      const where = { deal, seat };
      if (!nonce && !(nonce_hash && outcome === "dealt")) continue;
      if (!nonce || base64url(nonceHash(uid, fromBase64url(nonce))) !== nonce_hash) return { where, detail: {} };
      if (!left.delete(`${seat} ${nonce}`)) return { where, detail: {} };
      if (outcome === "dealt") took.push(seat);
    }
  return { where: left.size ? { part: "nonces" } : null, detail: { nonces: opened.length, seats: took } };
}

/** The seed follows from the secret and the nonces, and from nothing else. */
function checkSeeds(record: GameRecord): Found {
  const secret = fromBase64url(record.proof.secret);
  const seeds: string[] = [];
  for (const { deal, outcome, seats, seed } of record.proof.deals) {
    const where = { deal };
    if (outcome !== "dealt") {
      if (seed) return { where, detail: {} };
      continue;
    }
    const nonces = seats.map(({ nonce }) => (nonce ? fromBase64url(nonce) : NO_NONCE));
    const right = base64url(gameSeed(secret, fromBase64url(record.uid), deal, nonces));
    if (seed !== right) return { where, detail: {} };
    seeds.push(right);
  }
  return { where: null, detail: { seeds } };
}

/** All that was drawn follows from the seed. */
function checkDraws(record: GameRecord): Found {
  const acts = new Map<string, Act>();
  for (const [at, draw] of record.draws.entries()) {
    const where = { draw: at + 1 };
    const [deal, act, kind, given, result] = draw;
    const seed = record.proof.deals.find((one) => one.deal === deal)?.seed;
    if (!seed || act < 0) return { where, detail: {} };
    // An act that draws more than once goes on in its own stream.
    const stream = acts.get(`${deal} ${act}`) ?? new Act(fromBase64url(seed), act);
    acts.set(`${deal} ${act}`, stream);
    const isDrawn = kind === "below" ? stream.below(given) === result : same(stream.shuffle(given), result);
    if (!isDrawn || (kind === "shuffle" && !same(given, sorted(given)))) return { where, detail: {} };
  }
  return { where: null, detail: { draws: record.draws.length } };
}

/** Nothing was taken out of the log, put in or changed, and its marks are those that the players saw. */
function checkChain(record: GameRecord): Found {
  let before: Uint8Array = new Uint8Array(CHAIN_BYTES);
  let times: Uint8Array = new Uint8Array(16);
  const link = (id: Uint8Array, blob: Uint8Array): Uint8Array => blake2b(joined(before, times, id, blob), CHAIN_BYTES);
  const detail = { commits: record.commits.length, chain: record.chain };
  for (const [at, [seq, id, chain, blob, wallMs, servedMs]] of record.commits.entries()) {
    const where = { commit: at + 1 };
    const right = link(fromBase64url(id), fromBase64url(blob));
    if (seq !== at + 1 || base64url(right) !== chain) return { where, detail };
    if (record.frames[at]?.mark !== base64url(right.subarray(0, MARK_BYTES))) return { where: { frame: at + 1 }, detail };
    before = right;
    times = joined(bigEndian(wallMs, 8), bigEndian(servedMs, 8));
  }
  const nothing = new Uint8Array(0);
  let where: Document | null = null;
  if (record.frames.length !== record.commits.length) where = { part: "commits" };
  else if (base64url(before) !== record.chain) where = { part: "chain" };
  else if (base64url(link(nothing, nothing)) !== record.seal) where = { part: "seal" };
  return { where, detail };
}

/** What the frames tell happened, and who caused it, is what stands in the log: each event once and in order. */
function checkFacts(record: GameRecord): Found {
  let told = 0;
  for (const [at, [, , , blob]] of record.commits.entries()) {
    const { cause, events } = readCommit(fromBase64url(blob));
    const frame = record.frames[at];
    const isRight =
      frame?.facts.length === events.length &&
      same(frame.cause, cause) &&
      frame.facts.every((fact, place) => isTold(fact, events[place]!));
    if (!isRight) return { where: { frame: at + 1 }, detail: {} };
    told += events.length;
  }
  return { where: null, detail: { facts: told } };
}

/** The frames lead to the result that the record claims. */
function checkResult(record: GameRecord): Found {
  const timeline = new Timeline(record.frames);
  const last = room(timeline.at(timeline.last));
  const claimed: Document = record.result ? { result: { ...record.result } } : { closed: record.closed ?? "" };
  const told = last["result"] === undefined ? { closed: last["closed"] ?? "" } : { result: last["result"] };
  const matches = same(claimed, told) && last["status"] === "over" && last["uid"] === record.uid && last["code"] === record.code;
  return { where: matches ? null : { frame: timeline.last }, detail: claimed };
}

function factsOf(record: GameRecord, name: string): Fact[] {
  return record.frames.flatMap(({ facts }) => facts.filter((fact) => fact[0] === name));
}
