/**
 * Checking the record of a finished game without trusting its maker, by the specification alone (P-86, P-87, P-121 to P-125, P-186).
 *
 * Checks that need the rules of a game are not made here: that moves follow the rules, and that views show their outcome.
 * `towerhall verify` decides every move again and draws every view anew.
 */

import { base64url, fromBase64url, utf8 } from "./bytes.ts";
import { asFile, canonicalJson, CHAIN_BYTES, link, mark, seal } from "./chain.ts";
import { same } from "./equality.ts";
import { compare, type Difference, type Evidence } from "./evidence.ts";
import { Act, commitment, gameSeed, NO_NONCE, nonceHash, sorted } from "./fairness.ts";
import { isIncluded, isSignedCheckpoint } from "./inclusion.ts";
import { room } from "./nonce.ts";
import { isSigned, type Keys } from "./signature.ts";
import { areTold, readCommit, type Stored } from "./stored.ts";
import { Timeline } from "./timeline.ts";
import type { Check, Document, Fact, GameRecord } from "./types.ts";

/** The result of a check: the values it looked at, and the place of a fault, if any: a number, or a part. */
interface Found {
  where: Document | null;
  detail: Document;
}

/** Events that end a room: they stand in its last commit only. */
const ENDS: readonly string[] = ["game_over", "room_closed", "secret_revealed"];
/** Where `room_created` has the operator that the room belongs to. */
const OPERATOR = 15;
/** What an operator, or the service, may give as its reason for a close; the others only a room itself gives (P-125). */
const REASON = /^(?!(?:abandoned|agreed|resigned)$)[a-z0-9_]{1,40}$/;
/** How far the service clock may get ahead of the wall clock within a record (P-125). */
const FASTER_MS = 2_500;
/** Service time for opening nonces (P-83), and how much later a sealed deal may go on, or be cancelled (P-125). */
const OPEN_MS = 10_000;
const LATE_OPEN_MS = 30_000;

/** What a check may be given besides the record. */
export interface Known {
  /** Public keys of the server, by their names. */
  keys?: Keys;
  /** What this device has kept of the room. */
  evidence?: Evidence | null;
}

/** All checks, in the order in which the proof is built. Each says for itself whether it holds. */
export async function checkRecord(record: GameRecord, { keys = {}, evidence = null }: Known = {}): Promise<Check[]> {
  const checks: [name: string, check: (record: GameRecord) => Found][] = [
    ["commitment", checkCommitment],
    ["deals", checkDeals],
    ["nonces", checkNonces],
    ["seed", checkSeeds],
    ["draws", checkDraws],
    ["chain", checkChain],
    ["facts", checkFacts],
    ["names", checkNames],
    ["result", checkResult],
  ];
  const found: Check[] = [];
  for (const [name, check] of checks) {
    // A long game takes a moment; the page may breathe in between.
    await Promise.resolve();
    const { where, detail } = attempt(() => check(record));
    found.push({ name, ok: where === null, detail: where === null ? detail : { ...detail, where } });
  }
  return [...found, await checkSignature(record, keys), await checkLog(record, keys), checkSeen(record, evidence)];
}

/** The server has signed the end of this very room, as far as that can be told here. */
async function checkSignature(record: GameRecord, keys: Keys): Promise<Check> {
  const { uid, chain, signed, proof } = record;
  const check = { name: "signature", ok: true, detail: {} };
  if (!signed) return { ...check, skipped: "no_signature" };
  const detail = { key: signed.key };
  const key = keys[signed.key];
  if (!key) return { ...check, detail, skipped: "no_key" };
  const statement = { uid, commitment: proof.commitment, seq: record.commits.length, chain };
  const ok = await isSigned(statement, signed.signature, key);
  return ok === null ? { ...check, detail, skipped: "no_ed25519" } : { ...check, ok, detail };
}

/** The public log of the server has the end of this room, as far as that can be told here. */
async function checkLog(record: GameRecord, keys: Keys): Promise<Check> {
  const { uid, chain, seal: sealed, commits, log } = record;
  const check = { name: "log", ok: true, detail: {} };
  if (!log) return { ...check, skipped: "not_logged" };
  const leaf = utf8(canonicalJson({ kind: "ended", uid, seq: commits.length, chain, seal: sealed }));
  const detail = { leaves: log.size };
  const wrong = { ...check, ok: false, detail: { ...detail, where: { part: "log" } } };
  try {
    if (!isIncluded(leaf, log)) return wrong;
    const found = await isSignedCheckpoint(log.checkpoint, keys);
    if (found === "no_key") return { ...check, detail, skipped: found };
    if (found === null) return { ...check, detail, skipped: "no_ed25519" };
    return found ? { ...check, detail } : wrong;
  } catch {
    return wrong;
  }
}

/** It is the game that this device saw, as far as it has kept anything. */
function checkSeen(record: GameRecord, evidence: Evidence | null): Check {
  const check = { name: "seen", ok: true };
  if (!evidence) return { ...check, detail: {}, skipped: "no_evidence" };
  const { places = [], nonces = {} } = evidence;
  const detail = { seen_places: places.map(({ seq }) => seq), seen_nonces: Object.values(nonces) };
  const [first] = compare(evidence, record);
  return first ? { ...check, ok: false, detail: { ...detail, where: placeOf(first) } } : { ...check, detail };
}

/** Where a record and what was seen part. */
function placeOf({ code, at }: Difference): Document {
  if (code === "room") return { part: "uid" };
  if (code === "commitment") return { part: code };
  return code === "nonce" ? { deal: at } : { commit: at };
}

/** Numbers may be of any size in a file from anywhere; what cannot be computed does not hold. */
function attempt(check: () => Found): Found {
  try {
    return check();
  } catch (error) {
    return { where: { error: String(error) }, detail: {} };
  }
}

/** The server chose its secret before any person sat down, and revealed that same secret in the end. */
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
  else where = untimely(record);
  return { where, detail: { deals: deals.length, cancelled: cancelled.length } };
}

/** How fast the clocks of a sandbox room ran (P-190); 0: an ordinary room. */
export function sandboxSpeed({ settings }: Pick<GameRecord, "settings">): number {
  const { sandbox } = settings;
  return typeof sandbox === "number" ? sandbox : 0;
}

/** Where a sealed deal went on too late, or was cancelled too early. */
function untimely({ commits, frames, settings }: GameRecord): Document | null {
  const openMs = Math.floor(OPEN_MS / (sandboxSpeed({ settings }) || 1));
  let sealed: number | null = null;
  for (const [at, [, , , , , served]] of commits.entries()) {
    const names = (frames[at]?.facts ?? []).map(([name]) => name);
    const waited: number = served - (sealed ?? served);
    const early = sealed !== null && names.includes("deal_cancelled") && waited < openMs;
    if (early || waited > openMs + LATE_OPEN_MS) return { commit: at + 1 };
    for (const name of names)
      if (name === "sealed") sealed = served;
      else if (name === "dealt" || name === "deal_cancelled") sealed = null;
  }
  return null;
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

/** No entry was removed from the log, added or changed, and nothing else in the record was changed either. */
function checkChain(record: GameRecord): Found {
  let before: Uint8Array = new Uint8Array(CHAIN_BYTES);
  let times: readonly [wallMs: number, servedMs: number] = [0, 0];
  const ids = new Set<string>();
  let least = Infinity;
  const detail = { commits: record.commits.length, chain: record.chain };
  for (const [at, [seq, id, chain, blob, wallMs, servedMs]] of record.commits.entries()) {
    const where = { commit: at + 1 };
    const right = link(before, wallMs, servedMs, fromBase64url(id), fromBase64url(blob));
    if (seq !== at + 1 || base64url(right) !== chain || ids.has(id)) return { where, detail };
    if (wallMs < times[0] || servedMs < times[1]) return { where, detail };
    least = Math.min(least, servedMs - wallMs);
    if (servedMs - wallMs - least > FASTER_MS) return { where, detail };
    if (record.frames[at]?.seq !== seq || record.frames[at].mark !== mark(right)) return { where: { frame: at + 1 }, detail };
    ids.add(id);
    before = right;
    times = [wallMs, servedMs];
  }
  let where: Document | null = null;
  if (record.frames.length !== record.commits.length) where = { part: "commits" };
  else if (base64url(before) !== record.chain) where = { part: "chain" };
  else if (base64url(seal(before, asFile(record))) !== record.seal) where = { part: "seal" };
  return { where, detail };
}

/** The facts and causes of the frames are those of the log: each event once and in order. */
function checkFacts(record: GameRecord): Found {
  let told = 0;
  let operator: unknown = "";
  for (const [at, stored] of storedOf(record)) {
    if (at === 0) operator = stored.parts[0][0]?.[OPERATOR];
    const frame = record.frames[at];
    if (!frame || !same(frame.cause, stored.cause) || !areTold(frame.facts, stored, record.game)) return { where: { frame: at + 1 }, detail: {} };
    const ends = frame.facts.some(([name]) => ENDS.includes(name));
    if (ends !== (at === record.commits.length - 1)) return { where: { commit: at + 1 }, detail: {} };
    if (!stored.parts[0].every((event) => isClose(stored, event, operator))) return { where: { commit: at + 1 }, detail: {} };
    told += frame.facts.length;
  }
  return { where: null, detail: { facts: told } };
}

/** Whether a close has the reason that its command leads to (P-125). */
function isClose({ cause, command, parts }: Stored, [name, reason]: readonly unknown[], operator: unknown): boolean {
  if (name !== "room_closed") return true;
  if (cause.length) return reason === (["seat_resigned", "game_over"].every((each) => parts[0].some(([event]) => event === each)) ? "resigned" : "agreed");
  if (!Object.keys(command).length) return reason === "abandoned";
  const { by } = command;
  const mayClose = by === "service" || (by === "operator" && operator !== "");
  return mayClose && same(command, { command: "close", by, reason }) && typeof reason === "string" && REASON.test(reason);
}

/** The head of the record, and the names in it, are those of the log; the person who gave a command had the seat that it names. */
function checkNames(record: GameRecord): Found {
  const seats: Seat[] = record.seats.map(() => null);
  const deals: Seat[][] = [];
  const detail = { names: record.seats.map((seat, at) => seat?.name ?? `${at + 1}`) };
  for (const [at, stored] of storedOf(record)) {
    const where = { commit: at + 1 };
    const [room] = stored.parts;
    if (at === 0 ? !isCreation(room, record, seats) : room.some(([name]) => name === "room_created")) return { where, detail };
    // A seat is named as it is before the commit: a person who sits down with it had none.
    const [seat, , n] = stored.cause;
    const held = seats.findIndex((one) => stored.identity !== "" && one?.identity === stored.identity);
    if (n !== undefined && held !== seat) return { where, detail };
    for (const event of room) seatWith(seats, deals, event);
  }
  const named = ({ name, bot }: { name: string; bot?: string }): unknown[] => [name, bot ?? ""];
  const holders = (held: readonly Seat[]): unknown[] => held.map((one) => one && [one.name, one.bot]);
  if (!same(record.seats.map((one) => one && named(one)), holders(seats))) return { where: { part: "seats" }, detail };
  const wrong = record.proof.deals.findIndex(({ seats: hands }, at) => !same(hands.map(named), holders(deals[at] ?? [])));
  return { where: wrong < 0 ? null : { deal: wrong + 1 }, detail };
}

/** Who has a seat: a person by the id in this room, or a bot by its level. */
type Seat = { name: string; bot: string; identity: string } | null;

/** Whether the room was created as the head of the record says. Bots may sit there from the beginning. */
function isCreation(events: readonly unknown[][], record: GameRecord, seats: Seat[]): boolean {
  const [name, uid, code, game, version, options, count, settings, , , , , bots] = events[0] ?? [];
  if (Array.isArray(bots)) for (const [at, level] of bots.entries()) if (level) seats[at] = botOf(level);
  const changed = record.frames.flatMap(({ facts }) => facts.filter(([fact]) => fact === "options_changed")).at(-1);
  const [, lastOptions = options, lastSettings = settings] = changed ?? [];
  const agreed = { turn_seconds: 0, bot_delay_ms: 600, ...(lastSettings as Document) };
  return (
    events.length === 1 &&
    same([name, uid, code, game, version, count], ["room_created", record.uid, record.code, record.game, record.version, seats.length]) &&
    same([lastOptions, agreed], [record.options, record.settings])
  );
}

/** Who has which seat after an event of the room, and who had which when a deal was sealed. */
function seatWith(seats: Seat[], deals: Seat[][], [name, first, second, third]: readonly unknown[]): void {
  switch (name) {
    case "person_sat":
      seats[Number(first)] = { name: String(third), bot: "", identity: String(second) };
      break;
    case "person_renamed": {
      const taker = seats[Number(first)];
      if (taker) seats[Number(first)] = { ...taker, name: String(second) };
      break;
    }
    case "bot_sat":
      seats[Number(first)] = botOf(second);
      break;
    case "seat_left":
    case "seat_kicked":
      seats[Number(first)] = null;
      break;
    case "deal_cancelled":
      for (const seat of second as number[]) seats[seat] = null;
      break;
    case "sealed":
      deals.push([...seats]);
  }
}

function botOf(level: unknown): Seat {
  return { name: `bot ${String(level)}`, bot: String(level), identity: "" };
}

/** The commits as the log holds them, by their place. */
function* storedOf(record: GameRecord): Generator<[at: number, stored: Stored]> {
  for (const [at, [, , , blob]] of record.commits.entries()) yield [at, readCommit(fromBase64url(blob))];
}

/** The frames lead to the result that the record claims. */
function checkResult(record: GameRecord): Found {
  const timeline = new Timeline(record.frames);
  const last = room(timeline.at(timeline.last));
  const claimed: Document = { closed: record.closed ?? "", ...(record.result ? { result: { ...record.result } } : {}) };
  const told = { closed: last["closed"] ?? "", ...(last["result"] === undefined ? {} : { result: last["result"] }) };
  const matches = same(claimed, told) && last["status"] === "over" && last["uid"] === record.uid && last["code"] === record.code;
  return { where: matches ? null : { frame: timeline.last }, detail: claimed };
}

function factsOf(record: GameRecord, name: string): Fact[] {
  return record.frames.flatMap(({ facts }) => facts.filter((fact) => fact[0] === name));
}
