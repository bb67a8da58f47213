/** The chain of a room's log, the marks of its commits, and the seal of a record (P-34, P-121): as in `chain.py`. */

import { base64url, bigEndian, joined, utf8 } from "./bytes.ts";
import { sha256 } from "./sha256.ts";
import type { Frame, GameRecord } from "./types.ts";

export const CHAIN_BYTES = 32;
const MARK_BYTES = 8;
const LINK = utf8("towerhall/1/chain\0");
const SEAL = utf8("towerhall/1/seal\0");
/** Parts of a record that the seal does not cover: they are made after it. */
const UNSEALED = new Set(["seal", "signed", "log"]);

/** The chain after one more commit, which has these times. */
export function link(before: Uint8Array, wallMs: number, servedMs: number, id: Uint8Array, blob: Uint8Array): Uint8Array {
  return sha256(joined(LINK, before, bigEndian(wallMs, 8), bigEndian(servedMs, 8), id, blob));
}

/** The chain's short form, as each frame has it. */
export function mark(chain: Uint8Array): string {
  return base64url(chain.subarray(0, MARK_BYTES));
}

/** What binds everything in a record to the end of its chain. */
export function seal(chain: Uint8Array, record: object): Uint8Array {
  const sealed = Object.fromEntries(Object.entries(record).filter(([name]) => !UNSEALED.has(name)));
  return sha256(joined(SEAL, chain, sha256(utf8(canonicalJson(sealed)))));
}

/** The record as it stands in its file, with frames as they travel. */
export function asFile(record: GameRecord): object {
  return { ...record, frames: record.frames.map(asMessage) };
}

/** The JSON text of RFC 8785 for documents of whole numbers. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const document = value as Record<string, unknown>;
  const parts = Object.keys(document)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(document[key])}`);
  return `{${parts.join(",")}}`;
}

function asMessage({ seq, mark, cause, facts, patch }: Frame): unknown[] {
  return ["frame", seq, mark, cause, facts, patch];
}
