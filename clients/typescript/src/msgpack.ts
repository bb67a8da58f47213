/**
 * The part of msgpack that plain documents need: nil, booleans, integers, text, arrays and maps.
 *
 * What a general library reads besides (floats, bytes, extensions, text that is not UTF-8, keys that come twice) has to be
 * refused here, and it cannot be told afterwards that it was there; so this reads and writes itself, in less code.
 */

import { base64url, utf8 } from "./bytes.ts";
import { checkInteger, checkSize, checkText, deeper, malformed, put, type Limits } from "./limits.ts";

const TEXT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function packed(value: unknown): Uint8Array {
  const writer = new Writer();
  writer.write(value);
  return writer.data();
}

export function unpacked(data: Uint8Array, limits: Limits): unknown {
  checkSize(data.length, limits);
  const reader = new Reader(data, limits);
  const value = reader.read(limits.depth);
  if (reader.left) throw malformed("something comes after the end");
  return value;
}

class Writer {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;

  data(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }

  write(value: unknown): void {
    if (value === null) this.#byte(0xc0);
    else if (typeof value === "boolean") this.#byte(value ? 0xc3 : 0xc2);
    else if (typeof value === "number") this.#integer(checkInteger(value));
    else if (typeof value === "string") this.#text(value);
    else if (Array.isArray(value)) {
      this.#head(value.length, 0x90, 16, 0xdc);
      for (const item of value) this.write(item);
    } else if (typeof value === "object") {
      const entries = Object.entries(value);
      this.#head(entries.length, 0x80, 16, 0xde);
      for (const [key, item] of entries) {
        this.#text(key);
        this.write(item);
      }
    } else throw malformed(`${typeof value} is not used here`);
  }

  #text(text: string): void {
    const bytes = utf8(checkText(text));
    if (bytes.length >= 32 && bytes.length < 256) this.#sized(0xd9, bytes.length, 1);
    else this.#head(bytes.length, 0xa0, 32, 0xda);
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** How many follow: in the first byte if few, else in two or four bytes after it. */
  #head(count: number, few: number, limit: number, many: number): void {
    if (count < limit) this.#byte(few | count);
    else if (count < 2 ** 16) this.#sized(many, count, 2);
    else this.#sized(many + 1, count, 4);
  }

  #integer(number: number): void {
    if (number >= -32 && number < 128) this.#byte(number & 0xff);
    else if (number >= 0) {
      if (number < 2 ** 8) this.#sized(0xcc, number, 1);
      else if (number < 2 ** 16) this.#sized(0xcd, number, 2);
      else if (number < 2 ** 32) this.#sized(0xce, number, 4);
      else this.#wide(0xcf, number);
    } else if (number >= -(2 ** 7)) this.#sized(0xd0, number, 1);
    else if (number >= -(2 ** 15)) this.#sized(0xd1, number, 2);
    else if (number >= -(2 ** 31)) this.#sized(0xd2, number, 4);
    else this.#wide(0xd3, number);
  }

  #sized(kind: number, number: number, size: 1 | 2 | 4): void {
    this.#byte(kind);
    this.#room(size);
    if (size === 1) this.#view.setUint8(this.#at, number);
    else if (size === 2) this.#view.setUint16(this.#at, number);
    else this.#view.setUint32(this.#at, number);
    this.#at += size;
  }

  #wide(kind: number, number: number): void {
    this.#byte(kind);
    this.#room(8);
    this.#view.setBigInt64(this.#at, BigInt(number));
    this.#at += 8;
  }

  #byte(byte: number): void {
    this.#room(1);
    this.#bytes[this.#at++] = byte;
  }

  #room(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#at + size));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #limits: Limits;
  #at = 0;

  constructor(bytes: Uint8Array, limits: Limits) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#limits = limits;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  read(depth: number): unknown {
    const start = this.#at;
    const value = this.#value(depth);
    if (this.#limits.canonical && !isShortest(this.#bytes[start]!, value)) throw malformed("a value is longer than it has to be");
    return value;
  }

  #value(depth: number): unknown {
    const kind = this.#number(1);
    if (kind < 0x80) return kind;
    if (kind < 0x90) return this.#map(kind & 15, depth);
    if (kind < 0xa0) return this.#array(kind & 15, depth);
    if (kind < 0xc0) return this.#text(kind & 31);
    if (kind >= 0xe0) return kind - 256;
    switch (kind) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: return this.#data(1);
      case 0xc5: return this.#data(2);
      case 0xc6: return this.#data(4);
      case 0xcc: return this.#number(1);
      case 0xcd: return this.#number(2);
      case 0xce: return this.#number(4);
      case 0xcf: return checkInteger(Number(this.#view.getBigUint64(this.#take(8))));
      case 0xd0: return this.#view.getInt8(this.#take(1));
      case 0xd1: return this.#view.getInt16(this.#take(2));
      case 0xd2: return this.#view.getInt32(this.#take(4));
      case 0xd3: return checkInteger(Number(this.#view.getBigInt64(this.#take(8))));
      case 0xd9: return this.#text(this.#number(1));
      case 0xda: return this.#text(this.#number(2));
      case 0xdb: return this.#text(this.#number(4));
      case 0xdc: return this.#array(this.#number(2), depth);
      case 0xdd: return this.#array(this.#number(4), depth);
      case 0xde: return this.#map(this.#number(2), depth);
      case 0xdf: return this.#map(this.#number(4), depth);
      default: throw malformed(`0x${kind.toString(16)} is not used here`);
    }
  }

  #array(count: number, depth: number): unknown[] {
    if (count > this.#limits.arrayItems) throw malformed(`an array has ${count} items`);
    const inside = deeper(depth, count);
    const items: unknown[] = [];
    for (let at = 0; at < count; at += 1) items.push(this.read(inside));
    return items;
  }

  #map(count: number, depth: number): Record<string, unknown> {
    if (count > this.#limits.mapItems) throw malformed(`a map has ${count} keys`);
    const inside = deeper(depth, count);
    const map: Record<string, unknown> = {};
    let last = "";
    for (let at = 0; at < count; at += 1) {
      const key = this.read(depth);
      if (typeof key !== "string") throw malformed("a key is not a string");
      if (this.#limits.canonical && at > 0 && key <= last) throw malformed("keys are not in order");
      last = key;
      put(map, key, this.read(inside));
    }
    return map;
  }

  #text(size: number): string {
    if (size > this.#limits.stringBytes) throw malformed(`a text has ${size} bytes`);
    const start = this.#take(size);
    try {
      return TEXT.decode(this.#bytes.subarray(start, this.#at));
    } catch {
      throw malformed("the text is not UTF-8");
    }
  }

  #data(size: 1 | 2 | 4): string {
    if (!this.#limits.bytes) throw malformed("bytes are not used here");
    const start = this.#take(this.#number(size));
    return base64url(this.#bytes.subarray(start, this.#at));
  }

  #number(size: 1 | 2 | 4): number {
    const at = this.#take(size);
    if (size === 1) return this.#view.getUint8(at);
    return size === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  /** Start of the next bytes, and advance past them. */
  #take(size: number): number {
    const start = this.#at;
    if (start + size > this.#bytes.length) throw malformed("the message is cut off");
    this.#at += size;
    return start;
  }
}

/** The least that a value must be to need the form that its first byte names, by that byte. */
const LEAST: Readonly<Record<number, number>> = {
  0xc5: 2 ** 8, 0xc6: 2 ** 16, 0xcc: 128, 0xcd: 2 ** 8, 0xce: 2 ** 16, 0xcf: 2 ** 32, 0xd0: 33, 0xd1: 129, 0xd2: 2 ** 15 + 1,
  0xd3: 2 ** 31 + 1, 0xd9: 32, 0xda: 2 ** 8, 0xdb: 2 ** 16, 0xdc: 16, 0xdd: 2 ** 16, 0xde: 16, 0xdf: 2 ** 16,
};

/** Whether msgpack has no shorter form for a value that begins with that byte. */
function isShortest(kind: number, value: unknown): boolean {
  const least = LEAST[kind];
  if (least === undefined) return true;
  if (typeof value === "number") return (kind >= 0xd0 ? -value : value) >= least;
  if (typeof value === "string") return (kind < 0xd0 ? bytesOf(value) : utf8(value).length) >= least;
  return Object.keys(value as object).length >= least;
}

/** How many bytes a text of base64url stands for. */
function bytesOf(text: string): number {
  return Math.floor((text.length * 3) / 4);
}
