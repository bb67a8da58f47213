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

test("details are shown line by line", () => {
  expect(linesOf({ seed: "abc", deal: { number: 1, seats: [0, 2] }, ok: true })).toEqual([["seed", "abc"], ["deal.number", "1"], ["deal.seats", "0 2"], ["ok", "true"]]);
});
