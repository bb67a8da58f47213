import { beforeAll, expect, test } from "vitest";

import type { Evidence, GameRecord, Keep } from "towerhall-client";

import { checksOf, checkWord, linesOf, verdictOf, warningsOf, type ShownCheck } from "../src/proof/checks";
import towers from "../src/games/five_towers/words/en";
import proof from "../src/proof/words/en";
import en from "../src/words/en";
import { join } from "../src/words/index.svelte";
import { played } from "./five_towers_games";

beforeAll(() => join({ ...towers, ...proof }));

test("an honest record passes every check, and every check has words", async () => {
  for (const name of ["two", "three", "five"] as const) {
    const checks = await checksOf(played(name).record);
    expect(checks.filter((check) => !check.ok)).toEqual([]);
    expect(checks.map((check) => check.name)).toContain("cards");
    for (const check of checks) {
      expect(checkWord(check, "")).not.toBe(check.name);
      expect(checkWord(check, ".about")).not.toBe("");
    }
  }
});

test("the verdict claims no more than was checked", async () => {
  const { record } = played("two");
  const checks = await checksOf(record);
  expect(verdictOf(checks)).toBe("proof.good.shown");
  // This page has no folder for the game, so nothing ties what was shown to the draws.
  const other = structuredClone({ ...record, game: "dice_game" });
  const common = (await checksOf(other)).filter(({ ok }) => ok);
  expect(common.map(({ name }) => name)).not.toContain("cards");
  expect(verdictOf(common)).toBe("proof.good.seed");
  expect(verdictOf([...checks.slice(1), { ...checks[0]!, ok: false }])).toBe("proof.bad");
});

test("a check of a game is told in words of that game only", () => {
  join({ "other.proof.cards": "Tiles" });
  const check = { name: "cards", ok: true, detail: {} };
  expect(checkWord({ ...check, game: "other" }, "")).toBe("Tiles");
  expect(checkWord({ ...check, game: "five_towers" }, "")).toBe(towers["five_towers.proof.cards"]);
  expect(checkWord({ ...check, game: "third" }, "")).toBe("cards");
});

test("another secret and another card are found out", async () => {
  const { record } = played("two");
  const secret = structuredClone(record);
  secret.proof.secret = `${secret.proof.secret.slice(0, -4)}AAAA`;
  expect((await checksOf(secret)).filter((check) => !check.ok).map((check) => check.name)).toContain("commitment");
  const card = structuredClone(record);
  const draw = card.draws[0]!;
  const result = draw[4] as string[];
  [result[0], result[1]] = [result[1]!, result[0]!];
  expect((await checksOf(card)).filter((check) => !check.ok).map((check) => check.name)).toEqual(["draws", "chain", "cards"]);
});

/** A store that holds what a device saw of a game. */
function deviceOf(record: GameRecord, changed: Partial<Evidence> = {}): Keep {
  const places = [1, 16, record.commits.length].map((seq) => ({ seq, chain: record.commits[seq - 1]![2] }));
  const evidence: Evidence = { uid: record.uid, code: record.code, commitment: record.proof.commitment, places, ...changed };
  const items = new Map([[`towerhall.evidence.${record.uid}`, JSON.stringify(evidence)]]);
  return { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => void items.set(key, value), removeItem: (key) => void items.delete(key) };
}

test("a record is compared with what this device saw, if it saw anything", async () => {
  const { record } = played("two");
  const seen = (checks: ShownCheck[]) => checks.find(({ name }) => name === "seen")!;
  expect(seen(await checksOf(record))).toMatchObject({ ok: true, skipped: "no_evidence" });
  expect(checkWord(seen(await checksOf(record)), ".about")).toBe(proof["proof.skipped.no_evidence"]);
  const log = (await checksOf(record)).find(({ name }) => name === "log")!;
  expect([checkWord(log, ""), checkWord(log, ".about")]).toEqual([proof["proof.log"], proof["proof.skipped.not_logged"]]);
  const device = deviceOf(record);
  expect(seen(await checksOf(record, {}, device))).toEqual({ name: "seen", ok: true, detail: { seen_places: [1, 16, record.commits.length], seen_nonces: [] } });
  expect(warningsOf(record, device)).toEqual([]);
});

test("a record that holds together, and is not of the game that this device saw, is called that", async () => {
  const { record } = played("two");
  const other = deviceOf(record, { commitment: "another", places: [{ seq: 16, chain: "another" }, { seq: 17, chain: "more" }, { seq: 9999, chain: "later" }] });
  const checks = await checksOf(record, {}, other);
  expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["seen"]);
  expect(verdictOf(checks)).toBe("proof.unlike");
  expect(warningsOf(record, other)).toEqual([
    "The server promised a different secret.",
    "At entry 16, the server showed a different fingerprint during the game.",
    "The game went on to entry 9999 at least, but the record ends earlier.",
  ]);
});

test("a move that is told in another way is found out", async () => {
  const told = structuredClone(played("two").record);
  const bid = told.frames.flatMap((frame) => frame.facts).find(([name]) => name === "bid_made")!;
  bid[2] = Number(bid[2]) + 1;
  const wrong = (await checksOf(told)).filter((check) => !check.ok);
  expect(wrong.map((check) => check.name)).toEqual(["chain", "facts"]);
  expect(linesOf(wrong[1]!.detail)).toEqual([["Found at", expect.stringMatching(/^move \d+$/)]]);
});

test("details are shown line by line, in words", () => {
  expect(linesOf({ commitment: "abc", result: { scores: [3, 1], places: [1, 2] }, faults: [] })).toEqual([["Fingerprint of the secret", "abc"], ["Points", "3 1"], ["Places", "1 2"]]);
  expect(linesOf({ faults: ["deck", "first_pile"], start: 1, closed: "agreed" }, "five_towers")).toEqual([["Wrong", "Deck First pile"], ["Start player’s seat", "1"], ["Why there is no result", en["over.agreed"]]]);
  expect(linesOf({ where: { deal: 1, seat: 0 } })).toEqual([["Found at", "deal 1, seat 1"]]);
  expect(linesOf({ where: { part: "secret" } })).toEqual([["Found at", "Secret"]]);
});

test("every detail has a name in words", async () => {
  const { record } = played("five");
  const closed = { ...structuredClone(record), result: undefined, closed: "maintenance" } as unknown as typeof record;
  const other = structuredClone(record);
  other.draws = [];
  for (const each of [record, closed, other])
    for (const { detail, game } of await checksOf(each)) {
      const raw = Object.keys(detail).filter((name) => !/^\d+: /.test(name));
      for (const [name] of linesOf(detail, game)) expect(raw).not.toContain(name);
    }
});
