/** BLAKE2b (RFC 7693) without a key: for the chain of a record (P-121). Browsers have none of it. */

const IV = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n, 0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const ORDER = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map((row) => [...row].map((digit) => Number.parseInt(digit, 16)));
// Four columns, then four diagonals.
const MIXES = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
  [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
] as const;
const BLOCK = 128;
const MASK = (1n << 64n) - 1n;

function rotated(word: bigint, by: bigint): bigint {
  return (word >> by) | ((word << (64n - by)) & MASK);
}

function compress(state: bigint[], block: Uint8Array, count: number, last: boolean): void {
  const words = new DataView(block.buffer);
  const m = Array.from({ length: 16 }, (_, at) => words.getBigUint64(8 * at, true));
  const v = [...state, ...IV];
  v[12]! ^= BigInt(count);
  if (last) v[14]! ^= MASK;
  for (let round = 0; round < 12; round += 1) {
    const order = ORDER[round % 10]!;
    MIXES.forEach(([a, b, c, d], at) => {
      v[a] = (v[a]! + v[b]! + m[order[2 * at]!]!) & MASK;
      v[d] = rotated(v[d]! ^ v[a]!, 32n);
      v[c] = (v[c]! + v[d]!) & MASK;
      v[b] = rotated(v[b]! ^ v[c]!, 24n);
      v[a] = (v[a]! + v[b]! + m[order[2 * at + 1]!]!) & MASK;
      v[d] = rotated(v[d]! ^ v[a]!, 16n);
      v[c] = (v[c]! + v[d]!) & MASK;
      v[b] = rotated(v[b]! ^ v[c]!, 63n);
    });
  }
  for (let at = 0; at < 8; at += 1) state[at]! ^= v[at]! ^ v[at + 8]!;
}

/** The digest of `size` bytes. */
export function blake2b(data: Uint8Array, size: number): Uint8Array {
  const state = [...IV];
  state[0]! ^= 0x01010000n ^ BigInt(size);
  const blocks = Math.max(1, Math.ceil(data.length / BLOCK));
  for (let at = 0; at < blocks; at += 1) {
    const block = new Uint8Array(BLOCK);
    block.set(data.subarray(at * BLOCK, (at + 1) * BLOCK));
    compress(state, block, Math.min(data.length, (at + 1) * BLOCK), at === blocks - 1);
  }
  const digest = new DataView(new ArrayBuffer(64));
  state.forEach((word, at) => digest.setBigUint64(8 * at, word, true));
  return new Uint8Array(digest.buffer).slice(0, size);
}
