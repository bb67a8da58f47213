import { CodecError } from "./errors.ts";

/** How large and how deep one message may be (P-70). */
export interface Limits {
  messageBytes: number;
  stringBytes: number;
  arrayItems: number;
  mapItems: number;
  depth: number;
  /** Whether bytes may stand there, which are read as text (P-12). No message has any. */
  bytes?: boolean;
  /** Whether there is one form only: each value in its shortest form, and the keys of maps in order (P-122). */
  canonical?: boolean;
}

export const FROM_CLIENT: Limits = { messageBytes: 4096, stringBytes: 1200, arrayItems: 64, mapItems: 32, depth: 8 };
export const FROM_SERVER: Limits = {
  messageBytes: 1 << 20,
  stringBytes: 1 << 16,
  arrayItems: 1 << 14,
  mapItems: 1 << 12,
  depth: 16,
};

export function malformed(detail: string): CodecError {
  return new CodecError("malformed_message", detail);
}

export function checkSize(size: number, limits: Limits): void {
  if (size > limits.messageBytes) throw new CodecError("message_too_large", `${size} > ${limits.messageBytes} bytes`);
}

/** How many levels are left inside one more map or array. A level with content counts; an empty map or array has no inside. */
export function deeper(depth: number, items: number): number {
  if (items > 0 && depth < 2) throw new CodecError("nested_too_deep", "more levels than allowed");
  return depth - 1;
}

export function checkInteger(number: number): number {
  if (!Number.isSafeInteger(number)) throw new CodecError("number_out_of_range", "an integer is beyond 2^53 - 1");
  return number;
}

/** Text as it can travel. Bytes cannot hold half a pair of surrogates; a writer would put something else in its place. */
export function checkText(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw malformed("half a surrogate pair");
  return text;
}

/** Adds an item to a map: once, and never behind it. */
export function put(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__" || Object.hasOwn(map, key)) throw malformed("a key occurs twice, or is none");
  map[key] = value;
}
