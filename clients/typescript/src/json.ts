/**
 * JSON as the wire has it. `JSON.parse` would take fractions and keys that come twice, and hide them from the caller; so
 * the structure is read here and only the text of each string is left to it.
 */

import { utf8 } from "./bytes.ts";
import { checkInteger, checkSize, checkText, deeper, malformed, put, type Limits } from "./limits.ts";

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

export function readJson(text: string, limits: Limits): unknown {
  checkSize(utf8(text).length, limits);
  const reader = new Reader(text, limits);
  const value = reader.read(limits.depth);
  reader.end();
  return value;
}

class Reader {
  #at = 0;

  constructor(
    readonly text: string,
    readonly limits: Limits,
  ) {}

  read(depth: number): unknown {
    const first = this.#peek();
    if (first === "{") return this.#map(depth);
    if (first === "[") return this.#array(depth);
    if (first === '"') return this.#string();
    const word = this.#match(WORD);
    if (word) return word === "null" ? null : word === "true";
    const digits = this.#match(NUMBER);
    if (digits === null) throw malformed("this is no JSON");
    if (/[.eE]/.test(digits)) throw malformed("fractions are not used here");
    return checkInteger(Number(digits)) + 0;
  }

  end(): void {
    if (this.#peek() !== "") throw malformed("something comes after the end");
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#list("]", depth, (inside) => {
      items.push(this.read(inside));
      if (items.length > this.limits.arrayItems) throw malformed("an array has too many items");
    });
    return items;
  }

  #map(depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    let count = 0;
    this.#list("}", depth, (inside) => {
      if (this.#peek() !== '"') throw malformed("a key is not a string");
      const key = this.#string();
      if (this.#peek() !== ":") throw malformed("a key has no value");
      this.#at += 1;
      put(map, key, this.read(inside));
      count += 1;
      if (count > this.limits.mapItems) throw malformed("a map has too many keys");
    });
    return map;
  }

  #list(close: string, depth: number, item: (inside: number) => void): void {
    this.#at += 1;
    if (this.#peek() === close) {
      this.#at += 1;
      return;
    }
    const inside = deeper(depth, 1);
    for (;;) {
      item(inside);
      const next = this.#peek();
      this.#at += 1;
      if (next === close) return;
      if (next !== ",") throw malformed("this is no JSON");
    }
  }

  #string(): string {
    const quoted = this.#match(STRING);
    if (quoted === null) throw malformed("a text does not end");
    const text = JSON.parse(quoted) as string;
    const bytes = utf8(text);
    if (bytes.length > this.limits.stringBytes) throw malformed(`a text has ${bytes.length} bytes`);
    return checkText(text);
  }

  #peek(): string {
    this.#match(SPACE);
    return this.text[this.#at] ?? "";
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (!found) return null;
    this.#at = pattern.lastIndex;
    return found[0];
  }
}

const WRITTEN = ["boolean", "object"];

export function writtenJson(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => {
    checkText(key);
    if (typeof item === "string") return checkText(item);
    if (typeof item === "number") return checkInteger(item);
    if (!WRITTEN.includes(typeof item)) throw malformed(`${typeof item} is not used here`);
    return item;
  });
}
