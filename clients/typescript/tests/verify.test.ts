/** Records of real games hold; whatever is changed in their proof is found. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { base64url, compare, type Evidence, fromBase64url, link, mark, mergePatch, parseRecord, seal, ServiceError, Timeline, checkRecord, sandboxSpeed } from "../src";

const GOLDEN = new URL("../../../tests/versions/golden/", import.meta.url).pathname;
/** More records may be given, such as those of games that were played just now. */
const FOLDERS = [...readdirSync(GOLDEN, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => GOLDEN + name)];
if (process.env["TOWERHALL_RECORDS"]) FOLDERS.push(process.env["TOWERHALL_RECORDS"]);
const RECORDS = FOLDERS.flatMap((folder) =>
  readdirSync(folder).filter((name) => name.endsWith(".record.json")).map((name) => `${folder}/${name}`),
);

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = (string | number)[];

function read(file: string): string {
  return readFileSync(file, "utf-8");
}

/** Which checks do not hold; or that it is no record at all. */
async function findings(document: Json): Promise<string[]> {
  try {
    const checks = await checkRecord(parseRecord(JSON.stringify(document)));
    return checks.filter(({ ok }) => !ok).map(({ name }) => name);
  } catch (error) {
    if (error instanceof ServiceError) return [error.code];
    throw error;
  }
}

/** The ways to all values that hold no others. */
function leaves(value: Json, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, Array.isArray(value) ? Number(key) : key]));
}

function changed(value: Json): Json {
  if (typeof value === "number") return value + 1;
  if (typeof value !== "string") return "changed";
  const first = value[0] === "A" ? "B" : "A";
  return value ? first + value.slice(1) : first;
}

function withChange(text: string, path: Path): Json {
  const document = JSON.parse(text) as Json;
  let place = document as Record<string | number, Json>;
  for (const key of path.slice(0, -1)) place = place[key] as Record<string | number, Json>;
  const last = path.at(-1)!;
  place[last] = changed(place[last]!);
  return document;
}

test("there is a record to look at", () => expect(RECORDS.length).toBeGreaterThan(0));

test.each(RECORDS)("a true record holds: %s", async (file) => {
  const record = parseRecord(read(file));
  const checks = await checkRecord(record);
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual(
    ["commitment", "deals", "nonces", "seed", "draws", "chain", "facts", "names", "result", "signature", "log", "seen"].map((name) => [name, true]),
  );
  const timeline = new Timeline(record.frames);
  expect(timeline.last).toBe(record.commits.length);
  record.frames.reduce((view, { seq, patch }) => {
    const next = mergePatch(view, patch);
    expect(timeline.at(seq)).toEqual(next);
    return next;
  }, {});
  expect(timeline.at(timeline.last)["room"]).toMatchObject({ uid: record.uid, status: "over", secret: record.proof.secret });
});

/** Each change takes a whole check, so they are made in the first record and in short ones. */
const SHORT_BYTES = 20_000;

describe.each(RECORDS.filter((file, at) => at === 0 || statSync(file).size < SHORT_BYTES))("what is changed is found: %s", (file) => {
  const text = read(file);
  const whole = JSON.parse(text) as Record<string, Json>;
  const paths = (key: string): Path[] => leaves(whole[key]!, [key]);

  test("in the proof, the draws, the result and the ends of the chain", async () => {
    const wanted = ["uid", "code", "game", "version", "options", "settings", "seats", "proof", "draws", "result", "closed", "chain", "seal", "format"].filter((key) => key in whole);
    const places = wanted.flatMap(paths);
    expect(places.length).toBeGreaterThan(20);
    // Long lists of cards are looked at here and there.
    const few = places.filter((path, at) => path[0] !== "draws" || at % 16 === 0);
    for (const path of few) expect(await findings(withChange(text, path)), path.join(".")).not.toEqual([]);
  });

  test("in every tenth commit, and in all that its frame tells", async () => {
    const commits = paths("commits").filter(([, row]) => Number(row) % 10 === 0);
    // Number, mark, cause and facts; what the view shows in between is for the rules to say.
    const facts = paths("frames").filter(([, frame, field]) => [1, 2, 3, 4].includes(Number(field)) && Number(frame) % 10 === 0);
    expect(facts.length).toBeGreaterThan(5);
    for (const path of [...commits, ...facts]) expect(await findings(withChange(text, path)), path.join(".")).not.toEqual([]);
  });

  test("in every fact", async () => {
    const name = (path: Path): string => String(((whole["frames"] as Json[][])[Number(path[1])]![4] as Json[][])[Number(path[3])]![0]);
    // One of each kind of fact: the first field of it that can be changed, its name and its last.
    const seen = new Map<string, Path[]>();
    for (const path of paths("frames").filter(([, , field]) => field === 4)) seen.set(name(path), [...(seen.get(name(path)) ?? []), path]);
    expect(seen.size).toBeGreaterThan(5);
    for (const [fact, places] of seen)
      for (const path of [places[0]!, places[1] ?? places[0]!, places.at(-1)!]) expect(await findings(withChange(text, path)), `${fact} ${path.join(".")}`).toContain("facts");
  });

  test("a fact that is left out, told twice, or told elsewhere", async () => {
    const frames = whole["frames"] as Json[][];
    const at = frames.findLastIndex((frame) => (frame[4] as Json[]).length > 1);
    const facts = frames[at]![4] as Json[];
    for (const other of [facts.slice(1), [...facts, facts[0]!], facts.toReversed()])
      expect(await findings({ ...whole, frames: frames.with(at, frames[at]!.with(4, other)) })).toContain("facts");
  });

  test("a person who is named as the cause of an act of the room", async () => {
    const frames = whole["frames"] as Json[][];
    expect(frames[0]![3]).toEqual([]);
    expect(await findings({ ...whole, frames: frames.with(0, frames[0]!.with(3, [0])) })).toContain("facts");
  });

  test("a commit or a deal that is left out", async () => {
    const commits = whole["commits"] as Json[];
    const frames = whole["frames"] as Json[];
    expect(await findings({ ...whole, commits: commits.slice(0, -1), frames: frames.slice(0, -1) })).toContain("chain");
    expect(await findings({ ...whole, commits: [...commits.slice(0, 5), ...commits.slice(6)] })).toContain("chain");
    const proof = whole["proof"] as Record<string, Json>;
    expect(await findings({ ...whole, proof: { ...proof, deals: [] } })).toContain("deals");
  });
});

describe("forgeries", () => {
  const whole = JSON.parse(read(RECORDS[0]!)) as { frames: Json[][]; proof: { deals: Record<string, Json>[] } };

  /** The record with other facts about the shuffle. */
  function forged(facts: (fact: Json[]) => Json[][], deals: Record<string, Json>[]): Json {
    const frames = whole.frames.map((frame) => frame.with(4, (frame[4] as Json[][]).flatMap(facts)));
    return { ...whole, frames, proof: { ...whole.proof, deals } } as unknown as Json;
  }

  test("a deal that was not played and not cancelled either", async () => {
    const [deal] = whole.proof.deals;
    const unplayed: Record<string, Json> = { ...deal!, outcome: "closed" };
    delete unplayed["seed"];
    const record = forged(
      (fact) => (fact[0] === "sealed" ? [fact, fact.with(1, 2)] : [fact[0] === "dealt" ? fact.with(1, 2) : fact]),
      [unplayed, { ...deal!, deal: 2 }],
    );
    expect(await findings(record)).toContain("deals");
  });

  test("a deal that was not announced before", async () => {
    const [deal] = whole.proof.deals;
    const record = forged(
      (fact) => [fact[0] === "sealed" || fact[0] === "dealt" ? fact.with(1, 2) : fact],
      [{ ...deal!, deal: 2 }],
    );
    expect(await findings(record)).toContain("deals");
  });

  test("something so deep that it would exhaust its reader", async () => {
    const deep = JSON.parse("[".repeat(40) + "]".repeat(40)) as Json;
    expect(await findings({ ...(whole as unknown as Record<string, Json>), options: { deep } })).toEqual(["bad_record"]);
  });
});

test.each(["", "{}", "[]", "null", '{"format":2}', '{"format":3}', "[".repeat(100_000), `{"format":2,"options":${"[".repeat(50)}${"]".repeat(50)}}`])(
  "what is no record is refused: %#",
  (text) => expect(() => parseRecord(text)).toThrow(expect.objectContaining({ code: "bad_record" })),
);

test("a record with another shape anywhere is refused, never a fault", async () => {
  const text = read(RECORDS[0]!);
  const document = JSON.parse(text) as Record<string, Json>;
  for (const key of Object.keys(document))
    for (const other of [null, 1, "x", [], [1], [[]], {}, { a: 1 }] as Json[])
      expect(await findings({ ...document, [key]: other }), `${key} ${JSON.stringify(other)}`).toEqual(expect.any(Array));
});

interface Tampered {
  name: string;
  clause: number;
  repair: boolean;
  evidence: boolean;
  set: [path: (string | number)[], value: Json][];
}

/** The record with links, marks and seal that fit, as a server can write it that makes its log anew. */
function repaired(record: Record<string, Json>): Record<string, Json> {
  let chain: Uint8Array = new Uint8Array(32);
  const frames = record["frames"] as Json[][];
  for (const [at, row] of (record["commits"] as [number, string, string, string, number, number][]).entries()) {
    chain = link(chain, row[4], row[5], fromBase64url(row[1]), fromBase64url(row[3]));
    row[2] = base64url(chain);
    frames[at]![2] = mark(chain);
  }
  record["chain"] = base64url(chain);
  return { ...record, seal: base64url(seal(chain, record)) };
}

describe("vectors of whole records", () => {
  const VECTORS = new URL("../../../protocol/vectors/records/", import.meta.url).pathname;
  const whole = read(`${VECTORS}true.json`);
  const kept = JSON.parse(read(`${VECTORS}evidence.json`)) as Evidence;

  function tamper({ set, repair }: Tampered): Record<string, Json> {
    const record = JSON.parse(whole) as Record<string, Json>;
    for (const [path, value] of set) {
      const index = (part: Json, key: string | number): string | number => (typeof key === "number" && key < 0 ? (part as Json[]).length + key : key);
      let part: Json = record;
      for (const key of path.slice(0, -1)) part = (part as Record<string | number, Json>)[index(part, key)]!;
      const last = index(part, path.at(-1)!);
      if (value !== null) (part as Record<string | number, Json>)[last] = value;
      else if (Array.isArray(part)) part.splice(Number(last), 1);
      else delete (part as Record<string, Json>)[last];
    }
    return repair ? repaired(record) : record;
  }

  test("the true one holds, and is what the client saw", async () => {
    expect(await findings(JSON.parse(whole) as Json)).toEqual([]);
    expect(await findings(repaired(JSON.parse(whole) as Record<string, Json>))).toEqual([]);
    expect(compare(kept, parseRecord(whole))).toEqual([]);
  });

  test("one that ended by a resignation, with new names, holds; without its reason or with an old name it does not", async () => {
    const told = JSON.parse(read(`${VECTORS}resigned.json`)) as Record<string, Json>;
    expect(await findings(told)).toEqual([]);
    const { closed, ...without } = told;
    expect(closed).toBe("resigned");
    expect(await findings(repaired(without))).toContain("result");
    expect(await findings(repaired({ ...told, seats: [{ name: "Ada" }, { name: "Eve" }] }))).toContain("names");
  });

  test.each(JSON.parse(read(`${VECTORS}tampered.json`)) as Tampered[])("$name (P-$clause)", async (it) => {
    const record = tamper(it);
    const found = await findings(record);
    if (!it.evidence) return expect(found).not.toEqual([]);
    // It holds together: only kept evidence shows that it is of another game.
    expect(found).toEqual([]);
    expect(compare(kept, parseRecord(JSON.stringify(record))).map(({ code }) => code)).toContain("chain");
  });

  test("a sandbox room is checked by its own clocks, and says what it is", async () => {
    const record = parseRecord(read(`${VECTORS}sandbox.json`));
    expect(sandboxSpeed(record)).toBe(100);
    expect((await checkRecord(record)).filter(({ ok }) => !ok)).toEqual([]);
    expect(sandboxSpeed(parseRecord(read(`${VECTORS}true.json`)))).toBe(0);
  });
});
