/** Text to codewords: byte mode, repair level M, versions 1 to 10. */
import { repairWords } from "./galois";

/** By version: repair words of each block, then how many blocks there are with how many data words. */
const BLOCKS: readonly (readonly [repair: number, ...groups: (readonly [count: number, data: number])[]])[] = [
  [10, [1, 16]],
  [16, [1, 28]],
  [26, [1, 44]],
  [18, [2, 32]],
  [24, [2, 43]],
  [16, [4, 27]],
  [18, [4, 31]],
  [22, [2, 38], [2, 39]],
  [22, [3, 36], [2, 37]],
  [26, [4, 43], [1, 44]],
];
export const LARGEST_VERSION = BLOCKS.length;

const BYTE_MODE = 0b0100;
const PADDING = [0xec, 0x11];

/** The smallest version that holds the given number of bytes; null if none does. */
export function versionFor(bytes: number): number | null {
  for (let version = 1; version <= LARGEST_VERSION; version++) {
    if (4 + countBits(version) + 8 * bytes <= 8 * capacity(version)) return version;
  }
  return null;
}

/** All words in the order in which they are drawn. */
export function codewords(bytes: Uint8Array, version: number): number[] {
  const [repair, ...groups] = BLOCKS[version - 1]!;
  const data = dataWords(bytes, version);
  const blocks: number[][] = [];
  for (const [count, size] of groups) for (let i = 0; i < count; i++) blocks.push(data.splice(0, size));
  return [...interleaved(blocks), ...interleaved(blocks.map((block) => repairWords(block, repair)))];
}

export function dataWords(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const write = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at--) bits.push((value >> at) & 1);
  };
  const most = 8 * capacity(version);
  write(BYTE_MODE, 4);
  write(bytes.length, countBits(version));
  for (const byte of bytes) write(byte, 8);
  write(0, Math.min(4, most - bits.length));
  write(0, (8 - (bits.length % 8)) % 8);
  for (let i = 0; bits.length < most; i++) write(PADDING[i % 2]!, 8);
  const words: number[] = [];
  for (let at = 0; at < bits.length; at += 8) words.push(parseInt(bits.slice(at, at + 8).join(""), 2));
  return words;
}

function capacity(version: number): number {
  const [, ...groups] = BLOCKS[version - 1]!;
  return groups.reduce((sum, [count, size]) => sum + count * size, 0);
}

function countBits(version: number): number {
  return version < 10 ? 8 : 16;
}

/** The first word of each block, then the second of each, and so on; blocks may differ in length by one. */
function interleaved(blocks: readonly number[][]): number[] {
  const longest = Math.max(...blocks.map((block) => block.length));
  const words: number[] = [];
  for (let at = 0; at < longest; at++) for (const block of blocks) if (at < block.length) words.push(block[at]!);
  return words;
}
