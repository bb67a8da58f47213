/**
 * SHA-256 and HMAC (FIPS 180-4, RFC 2104).
 *
 * Browsers keep theirs from pages that came over plain http, where a table at home should be playable and provable too, and
 * give it only as promises, which a state machine without I/O cannot await. A game hashes a few kilobytes in all.
 */

import { joined } from "./bytes.ts";

const BLOCK = 64;
const K = new Uint32Array(64);
const START = new Uint32Array(8);

/** The first 32 bits of the fractional part of a root of a prime. */
function fraction(root: number): number {
  return (root - Math.floor(root)) * 2 ** 32;
}

for (let candidate = 2, found = 0; found < 64; candidate += 1) {
  let isPrime = true;
  for (let factor = 2; factor * factor <= candidate; factor += 1) isPrime &&= candidate % factor !== 0;
  if (!isPrime) continue;
  if (found < 8) START[found] = fraction(Math.sqrt(candidate));
  K[found++] = fraction(Math.cbrt(candidate));
}

function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function padded(data: Uint8Array): DataView {
  const bytes = new Uint8Array(Math.ceil((data.length + 9) / BLOCK) * BLOCK);
  bytes.set(data);
  bytes[data.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(bytes.length - 4, data.length << 3);
  return view;
}

export function sha256(data: Uint8Array): Uint8Array {
  const blocks = padded(data);
  const state = START.slice();
  const w = new Uint32Array(64);
  for (let start = 0; start < blocks.byteLength; start += BLOCK) {
    for (let at = 0; at < 64; at += 1) {
      if (at < 16) {
        w[at] = blocks.getUint32(start + 4 * at);
        continue;
      }
      const near = w[at - 2]!;
      const far = w[at - 15]!;
      const low = rotated(far, 7) ^ rotated(far, 18) ^ (far >>> 3);
      const high = rotated(near, 17) ^ rotated(near, 19) ^ (near >>> 10);
      w[at] = w[at - 16]! + low + w[at - 7]! + high;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let at = 0; at < 64; at += 1) {
      const mixed = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const one = (h + mixed + ((e & f) ^ (~e & g)) + K[at]! + w[at]!) | 0;
      const two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => (state[at]! += word));
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, at) => digest.setUint32(4 * at, word));
  return new Uint8Array(digest.buffer);
}

export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const pad = new Uint8Array(BLOCK);
  pad.set(key.length > BLOCK ? sha256(key) : key);
  const inner = sha256(joined(pad.map((byte) => byte ^ 0x36), message));
  return sha256(joined(pad.map((byte) => byte ^ 0x5c), inner));
}
