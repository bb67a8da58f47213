/** Hashes against those of node, msgpack against a library that others wrote. */

import { decode as libraryDecode, encode as libraryEncode } from "@msgpack/msgpack";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { CodecError } from "../src";
import { base64url, bigEndian, fromBase64url } from "../src/bytes";
import { decode, encode, JSON_TEXT, MSGPACK } from "./codecs";
import { FROM_CLIENT, FROM_SERVER } from "../src/limits";
import { hmacSha256, sha256 } from "../src/sha256";

const SIZES = [...Array(200).keys(), 255, 256, 257, 1000, 4096];

test("SHA-256 and HMAC are those of node, at every size around a block", () => {
  for (const size of SIZES) {
    const data = randomBytes(size);
    expect(base64url(sha256(data))).toBe(createHash("sha256").update(data).digest("base64url"));
    const key = randomBytes(size % 100);
    expect(base64url(hmacSha256(key, data))).toBe(createHmac("sha256", key).update(data).digest("base64url"));
  }
});

test("base64url is that of node, and nothing else is taken", () => {
  for (const size of SIZES) {
    const data = randomBytes(size);
    expect(base64url(data)).toBe(data.toString("base64url"));
    expect(fromBase64url(data.toString("base64url"))).toEqual(new Uint8Array(data));
  }
  for (const text of ["A", "AB", "AAB", "AA==", "A+", "A/", "Ä", " AA", "AAAAA"]) expect(() => fromBase64url(text), text).toThrow(RangeError);
});

test("whole numbers as bytes", () => {
  expect([...bigEndian(1_700_000_000_000, 8)]).toEqual([0, 0, 1, 139, 207, 229, 104, 0]);
});

/** Some document, as deep and as wide as documents are. */
function anything(depth: number): unknown {
  const chance = Math.floor(Math.random() * (depth ? 7 : 5));
  if (chance === 0) return Math.random() < 0.5;
  if (chance === 1) return null;
  if (chance === 2) return Math.floor((Math.random() - 0.5) * 2 ** Math.ceil(Math.random() * 53));
  if (chance <= 4) return ["", "a", "sand:7+", "башня🏰", "x".repeat(31 + (Math.random() * 3)), "y".repeat(255 + Math.random() * 3), "\ufeffbom"][Math.floor(Math.random() * 7)];
  const count = Math.floor(Math.random() * (depth > 3 ? 20 : 4));
  if (chance === 5) return Array.from({ length: count }, () => anything(depth - 1));
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, anything(depth - 1)]));
}

describe("codec", () => {
  test("is that of the library for whatever both know", () => {
    for (let round = 0; round < 500; round += 1) {
      const document = anything(4);
      const data = encode(document, MSGPACK) as Uint8Array;
      expect(base64url(data)).toBe(base64url(libraryEncode(document)));
      expect(decode(data, MSGPACK)).toEqual(document);
      expect(libraryDecode(data)).toEqual(document);
      expect(decode(encode(document, JSON_TEXT), JSON_TEXT)).toEqual(document);
    }
  });

  test("long arrays and maps", () => {
    const list = Array.from({ length: 16_384 }, (_, at) => at);
    const map = Object.fromEntries(list.slice(0, 4096).map((at) => [`k${at}`, at]));
    for (const document of [list, map]) expect(decode(encode(document, MSGPACK), MSGPACK, FROM_SERVER)).toEqual(document);
    expect(() => decode(encode([...list, 1], MSGPACK), MSGPACK)).toThrow(CodecError);
  });

  test("whatever is cut off or changed gives a document or a CodecError, by both", () => {
    const document = { a: [1, "two", { three: false }], b: -70_000, c: "башня" };
    const data = encode(document, MSGPACK) as Uint8Array;
    const text = encode(document, JSON_TEXT) as string;
    for (let at = 0; at < data.length; at += 1) {
      expect(() => decode(data.subarray(0, at), MSGPACK)).toThrow(CodecError);
      for (const byte of [0, 0x7f, 0x80, 0xa1, 0xc1, 0xca, 0xdb, 0xdf, 0xff]) tolerates(() => decode(data.with(at, byte), MSGPACK));
    }
    for (let at = 0; at < text.length; at += 1) {
      expect(() => decode(text.slice(0, at), JSON_TEXT)).toThrow(CodecError);
      for (const other of ['"', "\\", "{", "]", ",", "0", "e", "\u0000", "\ud800"]) tolerates(() => decode(text.slice(0, at) + other + text.slice(at + 1), JSON_TEXT));
    }
  });

  test.each([
    ["a float that is whole", new Uint8Array([0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0])],
    ["a key that reaches behind the map", libraryEncodeMap("__proto__")],
    ["a list as a key", new Uint8Array([0x81, 0x91, 0x01, 0x01])],
  ])("refuses %s", (_name, data) => {
    expect(() => decode(data, MSGPACK, FROM_CLIENT)).toThrow(expect.objectContaining({ code: "malformed_message" }));
  });

  test.each([["[1,]"], ['{"a":1,}'], ["{a:1}"], ["01"], ["-"], ["+1"], ["1e2"], ['"\t"'], ["[1 2]"], ['{"a" 1}'], ['{"__proto__":1}'], ["tru"], ["'a'"]])(
    "refuses the text %s",
    (text) => expect(() => decode(text, JSON_TEXT)).toThrow(expect.objectContaining({ code: "malformed_message" })),
  );

  test("takes white space where JSON has it, and minus zero for zero", () => {
    expect(decode(' { "a" : [ 1 , -0 ] }\n', JSON_TEXT)).toStrictEqual({ a: [1, 0] });
  });

  test.each([undefined, 1n, Symbol("x"), () => 1, NaN, Infinity, 1.5, 2 ** 53])("does not write %s", (value) => {
    for (const codec of [MSGPACK, JSON_TEXT]) expect(() => encode([value], codec)).toThrow(CodecError);
  });
});

function tolerates(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
  }
}

function libraryEncodeMap(key: string): Uint8Array {
  return new Uint8Array([0x81, 0xa0 + key.length, ...Buffer.from(key), 0x01]);
}
