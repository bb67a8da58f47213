/** The vectors that every client is checked by (protocol/vectors), read as an author of a client would. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { base64url, fromBase64url } from "../src/bytes";
import { decode, encode, JSON_TEXT, MSGPACK } from "./codecs";
import { CodecError } from "../src/errors";
import { Act, commitment, gameSeed, nonceHash } from "../src/fairness";
import { FROM_CLIENT, FROM_SERVER } from "../src/limits";
import { mergePatch } from "../src/merge_patch";
import { readLobby, readServer } from "../src/messages";
import { Replay } from "../src/replay";
import { canonicalJson, link, mark, seal } from "../src/chain";
import { compare, type Evidence } from "../src/evidence";
import type { Command, Document, Patch } from "../src/types";

function read<Shape>(name: string): Shape {
  return JSON.parse(readFileSync(new URL(`../../../protocol/vectors/${name}.json`, import.meta.url), "utf-8")) as Shape;
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof CodecError) return error.code;
    throw error;
  }
  return "nothing was refused";
}

interface Codec {
  documents: { name: string; document: unknown; msgpack: string }[];
  refused: { name: string; msgpack: string; code: string }[];
  refused_texts: { name: string; json: string; code: string }[];
}

describe("codec", () => {
  const vectors = read<Codec>("codec");
  test.each(vectors.documents)("document: $name", ({ document, msgpack }) => {
    expect(decode(fromBase64url(msgpack), MSGPACK, FROM_CLIENT)).toStrictEqual(document);
    expect(base64url(encode(document, MSGPACK) as Uint8Array)).toBe(msgpack);
    expect(decode(encode(document, JSON_TEXT), JSON_TEXT, FROM_CLIENT)).toStrictEqual(document);
  });
  test.each(vectors.refused)("refused bytes: $name", ({ msgpack, code }) => {
    expect(codeOf(() => decode(fromBase64url(msgpack), MSGPACK, FROM_CLIENT))).toBe(code);
  });
  test.each(vectors.refused_texts)("refused text: $name", ({ json, code }) => {
    expect(codeOf(() => decode(json, JSON_TEXT, FROM_CLIENT))).toBe(code);
  });
});

interface Message {
  name: string;
  document: unknown;
  msgpack: string;
  json: string;
}

describe("messages", () => {
  const vectors = read<Record<"client" | "server" | "to_lobby" | "from_lobby" | "to_events", Message[]>>("messages");
  const sides = [
    ["client", FROM_CLIENT, (document: unknown) => document],
    ["server", FROM_SERVER, readServer],
    ["to_lobby", FROM_CLIENT, (document: unknown) => document],
    ["from_lobby", FROM_SERVER, readLobby],
    ["to_events", FROM_CLIENT, (document: unknown) => document],
  ] as const;
  test("no side is left out", () => expect(Object.keys(vectors)).toEqual(sides.map(([side]) => side)));
  for (const [side, limits, readMessage] of sides)
    test.each(vectors[side])(`${side}: $name`, ({ document, msgpack, json }) => {
      expect(decode(fromBase64url(msgpack), MSGPACK, limits)).toStrictEqual(document);
      expect(decode(json, JSON_TEXT, limits)).toStrictEqual(document);
      expect(base64url(encode(document, MSGPACK) as Uint8Array)).toBe(msgpack);
      expect(encode(document, JSON_TEXT)).toBe(json);
      expect(readMessage(document)).toBe(document);
    });
});

describe("merge_patch", () => {
  const cases = read<{ name: string; before: Document; after: Document; patch: Patch }[]>("merge_patch");
  test.each(cases)("$name", ({ before, after, patch }) => {
    const untouched = structuredClone(before);
    expect(mergePatch(before, patch)).toStrictEqual(after);
    expect(before).toStrictEqual(untouched);
  });
});

interface Fairness {
  commitments: { uid: string; secret: string; commitment: string }[];
  nonce_hashes: { uid: string; nonce: string; hash: string }[];
  seeds: { secret: string; uid: string; deal: number; nonces: string[]; seed: string }[];
  shuffles: { seed: string; act: number; items: string[]; result: string[] }[];
  numbers: { seed: string; act: number; below: number[]; results: number[] };
}

describe("fairness", () => {
  const vectors = read<Fairness>("fairness");
  test.each(vectors.commitments)("commitment $commitment", (it) => {
    expect(base64url(commitment(fromBase64url(it.uid), fromBase64url(it.secret)))).toBe(it.commitment);
  });
  test.each(vectors.nonce_hashes)("nonce $hash", (it) => {
    expect(base64url(nonceHash(fromBase64url(it.uid), fromBase64url(it.nonce)))).toBe(it.hash);
  });
  test.each(vectors.seeds)("seed $seed", (it) => {
    const seed = gameSeed(fromBase64url(it.secret), fromBase64url(it.uid), it.deal, it.nonces.map(fromBase64url));
    expect(base64url(seed)).toBe(it.seed);
  });
  test.each(vectors.shuffles)("shuffle of act $act", ({ seed, act, items, result }) => {
    expect(new Act(fromBase64url(seed), act).shuffle(items)).toEqual(result);
  });
  test("numbers", () => {
    const act = new Act(fromBase64url(vectors.numbers.seed), vectors.numbers.act);
    expect(vectors.numbers.below.map((bound) => act.below(bound))).toEqual(vectors.numbers.results);
  });
});

interface Row {
  before?: string;
  commit_id: string;
  wall_ms: number;
  served_ms: number;
  blob: string;
  chain: string;
  mark: string;
}

function linked(before: Uint8Array, row: Row): Uint8Array {
  return link(before, row.wall_ms, row.served_ms, fromBase64url(row.commit_id), fromBase64url(row.blob));
}

describe("chain", () => {
  const vectors = read<{ links: Row[]; seals: { chain: string; record: object; text: string; seal: string }[] }>("chain");
  test.each(vectors.links)("link $mark", (row) => {
    expect(base64url(linked(fromBase64url(row.before!), row))).toBe(row.chain);
    expect(mark(fromBase64url(row.chain))).toBe(row.mark);
  });
  test.each(vectors.seals)("seal $seal", (it) => {
    expect(base64url(seal(fromBase64url(it.chain), it.record))).toBe(it.seal);
    const covered = Object.entries(it.record).filter(([name]) => !["seal", "signed", "log"].includes(name));
    expect(canonicalJson(Object.fromEntries(covered))).toBe(it.text);
  });
  test("two histories with equal marks have other chains", () => {
    const { histories } = read<{ histories: [Row[], Row[]] }>("equal_marks");
    const ends = histories.map((rows) => rows.reduce<Uint8Array>((before, row) => linked(before, row), new Uint8Array(32)));
    expect(ends.map((chain, at) => base64url(chain) === histories[at]!.at(-1)!.chain)).toEqual([true, true]);
    expect(mark(ends[0]!)).toBe(mark(ends[1]!));
    expect(base64url(ends[0]!)).not.toBe(base64url(ends[1]!));
    expect(histories[0].at(-1)!.blob).not.toBe(histories[1].at(-1)!.blob);
  });
});

describe("evidence", () => {
  const { evidence, records } = read<{ evidence: Evidence; records: { name: string; record: RecordRows; differences: unknown[] }[] }>("evidence");
  test.each(records)("$name", ({ record, differences }) => {
    const frames = record.frames.map(([, seq, mark, , , patch]) => ({ seq, mark, cause: [] as [], facts: [], patch }));
    expect(compare(evidence, { ...record, frames } as unknown as Parameters<typeof compare>[1])).toEqual(differences);
  });
});

interface RecordRows {
  frames: [name: string, seq: number, mark: string, cause: unknown, facts: unknown, patch: Patch][];
}

interface Step {
  do: "hello" | "command" | "sit" | "ready" | "receive";
  token: string;
  body: Command;
  dry: boolean;
  message: unknown;
  sends: unknown[];
  after: { cursor: unknown; view: Document; seat: number | null; tag: string; offers: unknown; unanswered: number[]; fault: boolean; evidence: unknown };
}

function perform(client: Replay, step: Step): [sends: unknown[], fault: boolean] {
  switch (step.do) {
    case "hello":
      return [[client.hello(step.token)], false];
    case "command":
      return [[client.command(step.body, step.dry)], false];
    case "sit":
      return [[client.sit()], false];
    case "ready":
      return [[client.ready()], false];
    case "receive": {
      const message = readServer(step.message);
      const kinds = message === null ? [] : client.receive(message).map(({ kind }) => kind);
      const sends: unknown[] = kinds.includes("synced") || kinds.includes("reset") ? client.resend() : [];
      sends.push(...client.postponed());
      const opening = client.opening();
      return [opening ? [...sends, opening] : sends, kinds.includes("faulted")];
    }
  }
}

describe("replay", () => {
  const cases = read<{ name: string; origin: string; nonces: string[]; steps: Step[] }[]>("replay");
  test.each(cases)("$name", ({ origin, nonces, steps }) => {
    const left = nonces.map(fromBase64url);
    const client = new Replay({ origin, randomBytes: () => left.shift()! });
    for (const [number, step] of steps.entries()) {
      const [sends, fault] = perform(client, step);
      const { cursor, view, seat, tag, offers, unanswered, evidence } = client;
      expect(sends, `step ${number}`).toEqual(step.sends);
      expect({ cursor, view, seat, tag, offers, unanswered, fault, evidence }, `step ${number}`).toEqual(step.after);
    }
  });
});
