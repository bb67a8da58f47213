/** Bytes as they travel and as they are hashed. */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Bytes as they travel: text without padding (P-12). */
export function base64url(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += 3) {
    const left = data.length - at;
    const word = (data[at]! << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);
    text += ALPHABET[word >> 18]! + ALPHABET[(word >> 12) & 63]!;
    if (left > 1) text += ALPHABET[(word >> 6) & 63]!;
    if (left > 2) text += ALPHABET[word & 63]!;
  }
  return text;
}

/** The bytes that such a text stands for; `RangeError` if it stands for none, or has bits to spare. */
export function fromBase64url(text: string): Uint8Array {
  const data = new Uint8Array(Math.floor((text.length * 3) / 4));
  let word = 0;
  let bits = 0;
  let at = 0;
  for (const character of text) {
    const value = ALPHABET.indexOf(character);
    if (value < 0) throw new RangeError("not base64url");
    word = ((word << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      data[at++] = (word >> bits) & 0xff;
    }
  }
  if (bits >= 6 || word & ((1 << bits) - 1)) throw new RangeError("not base64url");
  return data;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const data = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part, at);
    at += part.length;
  }
  return data;
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A whole number in the given number of bytes, big-endian. */
export function bigEndian(number: number, size: number): Uint8Array {
  const data = new Uint8Array(size);
  for (let at = size - 1; at >= 0; at -= 1) {
    data[at] = number % 256;
    number = Math.floor(number / 256);
  }
  return data;
}

export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Cryptographic random bytes. Unlike the rest of WebCrypto this works on plain http as well. */
export function randomBytes(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}
