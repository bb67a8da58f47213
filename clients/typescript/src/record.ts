/** The record of a finished game (P-120) from a file, which may come from anywhere. */

import { fromBase64url } from "./bytes.ts";
import { CHAIN_BYTES } from "./chain.ts";
import { ServiceError } from "./errors.ts";
import { NONCE_BYTES, SECRET_BYTES, UID_BYTES } from "./fairness.ts";
import { isMap } from "./merge_patch.ts";
import { checkFrame, frameOf } from "./messages.ts";
import { room } from "./nonce.ts";
import { Timeline } from "./timeline.ts";
import type { CommitRow, Deal, Draw, Frame, GameRecord } from "./types.ts";

const FORMAT = 2;
const DEPTH = 32;
const FRAME_ITEMS = 6;
const ROW_ITEMS = 6;
const DRAW_ITEMS = 5;
const KEY_BYTES = 8;
const SIGNATURE_BYTES = 64;
const COMMIT_ID_BYTES = 16;
const HASH_BYTES = 32;
const OUTCOMES: unknown[] = ["dealt", "cancelled", "closed"];

/** The record in that text. It has the right shape and nothing more: whether it is true is for `checkRecord`. */
export function parseRecord(text: string): GameRecord {
  try {
    return recordOf(JSON.parse(text));
  } catch (error) {
    throw new ServiceError("bad_record", error instanceof Error ? error.message : String(error));
  }
}

function recordOf(found: unknown): GameRecord {
  checkPlain(found, DEPTH);
  need(isMap(found) && isNumber(found["format"]), "this is no record of a game");
  need(found["format"] === FORMAT, `format ${String(found["format"])} is not known here`);
  for (const key of ["code", "game"]) need(isText(found[key]), key);
  need(isNumber(found["version"]), "version");
  for (const key of ["options", "settings"]) need(isMap(found[key]), key);
  needBytes(found["uid"], UID_BYTES, "uid");
  for (const key of ["chain", "seal"]) needBytes(found[key], CHAIN_BYTES, key);
  need(listOf(found["seats"], (seat) => seat === null || (isMap(seat) && isText(seat["name"]))), "seats");
  need(listOf(found["commits"], isCommit) && (found["commits"] as unknown[]).length > 0, "commits");
  need(listOf(found["draws"], isDraw), "draws");
  checkProof(found["proof"]);
  const result = found["result"];
  const isResult = isMap(result) && listOf(result["scores"], isNumber) && listOf(result["places"], isNumber);
  need(result === undefined || isResult, "result");
  need(found["closed"] === undefined || isText(found["closed"]), "closed");
  checkSigned(found["signed"]);
  checkLogged(found["log"]);
  return { ...(found as unknown as GameRecord), frames: framesOf(found["frames"]) };
}

function framesOf(found: unknown): Frame[] {
  need(Array.isArray(found), "frames");
  const frames = found.map((frame: unknown) => {
    checkFrame(frame);
    need((frame as unknown[]).length === FRAME_ITEMS, "frames");
    need(listOf(frame[4], (fact) => Array.isArray(fact) && isText(fact[0])), "facts");
    return frameOf(frame);
  });
  const timeline = new Timeline(frames);
  need(Object.keys(room(timeline.at(timeline.last))).length > 0, "there is no room in it");
  return frames;
}

function checkProof(proof: unknown): void {
  need(isMap(proof) && listOf(proof["deals"], isDeal), "proof");
  needBytes(proof["commitment"], HASH_BYTES, "commitment");
  needBytes(proof["secret"], SECRET_BYTES, "secret");
  for (const { seats, seed } of proof["deals"] as unknown as Deal[]) {
    if (seed) needBytes(seed, HASH_BYTES, "seed");
    for (const { nonce_hash, nonce } of seats) {
      if (nonce_hash) needBytes(nonce_hash, HASH_BYTES, "nonce_hash");
      if (nonce) needBytes(nonce, NONCE_BYTES, "nonce");
    }
  }
}

function checkSigned(signed: unknown): void {
  if (signed === undefined) return;
  need(isMap(signed), "signed");
  needBytes(signed["key"], KEY_BYTES, "signed");
  needBytes(signed["signature"], SIGNATURE_BYTES, "signed");
}

function checkLogged(log: unknown): void {
  if (log === undefined) return;
  need(isMap(log) && isNumber(log["index"]) && isNumber(log["size"]) && isText(log["checkpoint"]), "log");
  need(listOf(log["proof"], isText), "log");
}

function isDeal(deal: unknown): deal is Deal {
  return isMap(deal) && isNumber(deal["deal"]) && OUTCOMES.includes(deal["outcome"]) && listOf(deal["seats"], isMap);
}

function isCommit(row: unknown): row is CommitRow {
  if (!Array.isArray(row) || row.length !== ROW_ITEMS || ![row[0], row[4], row[5]].every(isNumber)) return false;
  needBytes(row[1], COMMIT_ID_BYTES, "commit");
  needBytes(row[2], CHAIN_BYTES, "commit");
  needBytes(row[3], null, "commit");
  return true;
}

function isDraw(draw: unknown): draw is Draw {
  if (!Array.isArray(draw) || draw.length !== DRAW_ITEMS || !isNumber(draw[0]) || !isNumber(draw[1])) return false;
  if (draw[2] === "below") return isNumber(draw[3]) && isNumber(draw[4]);
  const isItem = (item: unknown): boolean => isText(item) || isNumber(item);
  return draw[2] === "shuffle" && listOf(draw[3], isItem) && listOf(draw[4], isItem);
}

/** Refuse documents so deep that walking through them would exhaust the stack. */
function checkPlain(value: unknown, depth: number): void {
  need(depth > 0, "it is nested too deep");
  if (typeof value === "object" && value !== null) for (const item of Object.values(value)) checkPlain(item, depth - 1);
}

function listOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isItem(item));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function needBytes(text: unknown, size: number | null, name: string): void {
  need(isText(text), name);
  const bytes = fromBase64url(text);
  need(size === null || bytes.length === size, name);
}

function need(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new RangeError(problem);
}
