import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseRecord, verifyShuffle } from "../src";
test("x", async () => {
  const r = parseRecord(readFileSync(new URL("../../../tests/versions/golden/0.1.0/five_towers-1-standard-2.record.json", import.meta.url), "utf-8"));
  const t = performance.now();
  console.log(JSON.stringify(await verifyShuffle(r), null, 1), performance.now() - t, r.commits.length);
  expect(1).toBe(1);
});
