/** The server's signature of a place in a log (P-124). Ed25519 is WebCrypto's, which not every browser has. */

import { base64url, bigEndian, fromBase64url, joined, utf8 } from "./bytes.ts";
import { sha256 } from "./sha256.ts";

const KEY_ID_BYTES = 8;
const STATEMENT = utf8("towerhall/1/statement\0");

/** A room was opened with this commitment, and its log led to this chain at this seq. */
export interface Statement {
  uid: string;
  commitment: string;
  seq: number;
  chain: string;
}

/** Public keys by their names. */
export type Keys = Readonly<Record<string, string>>;

/** The name of a key: the beginning of its hash. */
export function keyId(publicKey: Uint8Array): string {
  return base64url(sha256(publicKey).subarray(0, KEY_ID_BYTES));
}

/** Whether that key has signed the statement; null if this program cannot tell. */
export async function isSigned({ uid, commitment, seq, chain }: Statement, signature: string, publicKey: string): Promise<boolean | null> {
  const said = joined(STATEMENT, fromBase64url(uid), fromBase64url(commitment), bigEndian(seq, 8), fromBase64url(chain));
  return isEd25519(fromBase64url(publicKey), fromBase64url(signature), said);
}

/** Whether that is the key's signature of the data; null if this program cannot tell. */
export async function isEd25519(publicKey: Uint8Array, signature: Uint8Array, data: Uint8Array): Promise<boolean | null> {
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  try {
    const key = await subtle?.importKey("raw", plain(publicKey), "Ed25519", false, ["verify"]);
    return key === undefined || subtle === undefined ? null : await subtle.verify("Ed25519", key, plain(signature), plain(data));
  } catch {
    return null;
  }
}

/** WebCrypto takes no views of shared memory. */
function plain(data: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(data);
}
