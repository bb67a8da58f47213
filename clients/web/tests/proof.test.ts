import { expect, test } from "vitest";

import { checksOf, linesOf } from "../src/proof/checks";
import en from "../src/words/en";
import { played } from "./five_towers_games";

test("an honest record passes every check, and every check has words", async () => {
  for (const name of ["two", "three", "five"] as const) {
    const checks = await checksOf(played(name).record);
    expect(checks.filter((check) => !check.ok)).toEqual([]);
    expect(checks.map((check) => check.name)).toContain("cards");
    for (const { name: step } of checks) {
      expect(en).toHaveProperty([`proof.${step}`]);
      expect(en).toHaveProperty([`proof.${step}.about`]);
    }
  }
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
  expect((await checksOf(card)).filter((check) => !check.ok).map((check) => check.name)).toEqual(["draws", "cards"]);
});

test("a move that is told in another way is found out", async () => {
  const told = structuredClone(played("two").record);
  const bid = told.frames.flatMap((frame) => frame.facts).find(([name]) => name === "bid_made")!;
  bid[2] = Number(bid[2]) + 1;
  const wrong = (await checksOf(told)).filter((check) => !check.ok);
  expect(wrong.map((check) => check.name)).toEqual(["facts"]);
  expect(linesOf(wrong[0]!.detail)).toEqual([["Found at", expect.stringMatching(/^move \d+$/)]]);
});

test("details are shown line by line, in words", () => {
  expect(linesOf({ commitment: "abc", result: { scores: [3, 1], places: [1, 2] }, faults: [] })).toEqual([["Fingerprint of the secret", "abc"], ["Points", "3 1"], ["Places", "1 2"]]);
  expect(linesOf({ faults: ["deck", "first_pile"], start: 0, closed: "agreed" })).toEqual([["Does not fit", "Deck First pile"], ["Start player’s seat", "1"], ["Why there is no result", en["over.agreed"]]]);
  expect(linesOf({ where: { deal: 1, seat: 0 } })).toEqual([["Found at", "deal 1, seat 1"]]);
  expect(linesOf({ where: { part: "secret" } })).toEqual([["Found at", "Secret"]]);
});

test("every detail has a name in words", async () => {
  const { record } = played("five");
  const closed = { ...structuredClone(record), result: undefined, closed: "maintenance" } as unknown as typeof record;
  const other = structuredClone(record);
  other.draws = [];
  for (const each of [record, closed, other])
    for (const { detail } of await checksOf(each)) {
      const raw = Object.keys(detail).filter((name) => !/^\d+: /.test(name));
      for (const [name] of linesOf(detail)) expect(raw).not.toContain(name);
    }
});
