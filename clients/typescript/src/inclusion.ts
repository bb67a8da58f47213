/** The proof that a leaf is in the public log of a service (P-181, P-186): as in `merkle.py` and `notes.py`. */

import { fromBase64url, joined, sameBytes, utf8 } from "./bytes.ts";
import { sha256 } from "./sha256.ts";
import { isEd25519, type Keys } from "./signature.ts";
import type { Logged } from "./types.ts";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);
/** The kind of a key that signs notes. */
const ED25519 = Uint8Array.of(1);
const HASH_BYTES = 32;
const KEY_ID_BYTES = 4;
const MOST_CHARACTERS = 1 << 16;
const MOST_SIGNATURES = 64;

/** The state of a log, and who has signed it. */
interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
  text: string;
  signatures: { name: string; id: Uint8Array; signature: Uint8Array }[];
}

/** Whether the hashes lead from the leaf to the root of the checkpoint. Its signatures are not looked at. */
export function isIncluded(leaf: Uint8Array, { index, size, proof, checkpoint }: Logged): boolean {
  const found = checkpointOf(checkpoint);
  if (found.size !== size || index < 0 || index >= size) return false;
  let at = index;
  let last = size - 1;
  let hash = sha256(joined(LEAF, leaf));
  // RFC 9162, section 2.1.3.2. Numbers may have more than 32 bits.
  for (const other of proof.map(fromBase64url)) {
    if (last === 0 || other.length !== HASH_BYTES) return false;
    if (at % 2 === 1 || at === last) {
      hash = sha256(joined(NODE, other, hash));
      while (at > 0 && at % 2 === 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else hash = sha256(joined(NODE, hash, other));
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && sameBytes(hash, found.root);
}

/** Whether these keys have signed the checkpoint in the name of its log: `no_key` if none of them seems to have, null if this program cannot tell. */
export async function isSignedCheckpoint(note: string, keys: Keys): Promise<boolean | "no_key" | null> {
  const { origin, text, signatures } = checkpointOf(note);
  let found: boolean | "no_key" | null = "no_key";
  for (const key of Object.values(keys).map(fromBase64url)) {
    const id = sha256(joined(utf8(`${origin}\n`), ED25519, key)).subarray(0, KEY_ID_BYTES);
    for (const line of signatures) {
      if (line.name !== origin || !sameBytes(line.id, id)) continue;
      found = await isEd25519(key, line.signature, utf8(text));
      if (!found) return found;
    }
  }
  return found;
}

/** The checkpoint in a signed note; `RangeError` if there is none. */
function checkpointOf(note: string): Checkpoint {
  const cut = note.lastIndexOf("\n\n");
  if (note.length > MOST_CHARACTERS || cut < 0 || !note.endsWith("\n")) throw new RangeError("this is no note");
  const text = note.slice(0, cut + 1);
  const lines = note.slice(cut + 2, -1).split("\n");
  const [origin, size, root, ...rest] = text.slice(0, -1).split("\n");
  if (!origin || !size || !root || rest.includes("") || !/^(0|[1-9]\d{0,15})$/.test(size)) throw new RangeError("this is no checkpoint");
  if (lines.length > MOST_SIGNATURES) throw new RangeError("there are too many signatures");
  return { origin, size: Number(size), root: fromBase64(root), text, signatures: lines.map(lineOf) };
}

function lineOf(line: string): { name: string; id: Uint8Array; signature: Uint8Array } {
  const [, name, encoded] = /^— ([^\s+]+) (\S+)$/.exec(line) ?? [];
  if (!name || !encoded) throw new RangeError("this is no signature");
  const data = fromBase64(encoded);
  return { name, id: data.subarray(0, KEY_ID_BYTES), signature: data.subarray(KEY_ID_BYTES) };
}

/** Standard base64, of which there is one form only. */
function fromBase64(text: string): Uint8Array {
  if (text.length % 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new RangeError("not base64");
  return fromBase64url(text.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_"));
}
