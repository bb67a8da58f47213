/** A record that its server has signed and entered into its public log: signature, proof and kept evidence are steps of the check. */

import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { base64url, type Check, type Evidence, type GameRecord, type Keys, parseRecord, checkRecord } from "../src";
import { fromBase64url, utf8 } from "../src/bytes";
import { isIncluded } from "../src/inclusion";

const VECTORS = new URL("../../../protocol/vectors/", import.meta.url).pathname;

function vector<Shape>(name: string): Shape {
  return JSON.parse(readFileSync(`${VECTORS}${name}.json`, "utf-8")) as Shape;
}

const whole = parseRecord(readFileSync(`${VECTORS}records/signed.json`, "utf-8"));
const keys = vector<Keys>("records/keys");
const evidence = vector<Evidence>("records/evidence");

async function checked(record: GameRecord, known: Parameters<typeof checkRecord>[1]): Promise<Record<string, Check>> {
  return Object.fromEntries((await checkRecord(record, known)).map((check) => [check.name, check]));
}

function skippedOf(checks: Record<string, Check>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(checks).flatMap(([name, { skipped }]) => (skipped ? [[name, skipped]] : [])));
}

afterEach(() => vi.unstubAllGlobals());

test("with keys and evidence nothing is left unchecked", async () => {
  const checks = await checked(whole, { keys, evidence });
  expect(Object.values(checks).filter(({ ok, skipped }) => !ok || skipped)).toEqual([]);
  expect(checks["log"]).toEqual({ name: "log", ok: true, detail: { leaves: 13 } });
});

test("without a key, Ed25519, a proof or evidence the step is called unchecked", async () => {
  expect(skippedOf(await checked(whole, {}))).toEqual({ signature: "no_key", log: "no_key", seen: "no_evidence" });
  const { log, signed, ...bare } = whole;
  expect([log, signed]).not.toContain(undefined);
  expect(skippedOf(await checked(bare, { keys }))).toEqual({ signature: "no_signature", log: "not_logged", seen: "no_evidence" });
  vi.stubGlobal("crypto", {});
  expect(skippedOf(await checked(whole, { keys, evidence }))).toEqual({ signature: "no_ed25519", log: "no_ed25519" });
});

type Change = [path: (string | number)[], value: unknown];

describe("what is changed in signature or proof is found by its step", () => {
  test.each(vector<{ name: string; step: string; set: Change[] }[]>("records/tampered_signed"))("$name", async ({ step, set }) => {
    const record = structuredClone(whole);
    for (const [path, value] of set) {
      let part = record as unknown as Record<string, unknown>;
      for (const key of path.slice(0, -1)) part = part[key] as Record<string, unknown>;
      part[path.at(-1)!] = value;
    }
    const found = await checkRecord(record, { keys, evidence });
    expect(found.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual([step]);
  });
});

test("what this device saw otherwise is named", async () => {
  const seen = async (kept: Evidence) => (await checked(whole, { evidence: kept }))["seen"]!;
  expect(await seen({ ...evidence, uid: "other" })).toMatchObject({ ok: false, detail: { where: { part: "uid" } } });
  expect(await seen({ ...evidence, commitment: "other" })).toMatchObject({ ok: false, detail: { where: { part: "commitment" } } });
  expect(await seen({ ...evidence, nonces: { 1: "other" } })).toMatchObject({ ok: false, detail: { where: { deal: 1 } } });
  expect(await seen({ ...evidence, places: [{ seq: 7, chain: "other" }] })).toMatchObject({ ok: false, detail: { where: { commit: 7 } } });
});

test("proofs of logs of all sizes hold for their leaf and their place only", () => {
  const { roots, inclusion } = vector<{ roots: { size: number; root: string }[]; inclusion: { index: number; size: number; proof: string[] }[] }>("merkle");
  for (const { index, size, proof } of inclusion) {
    const root = fromBase64url(roots.find((one) => one.size === size)!.root);
    const checkpoint = `towers.example\n${size}\n${Buffer.from(root).toString("base64")}\n\n— towers.example ${Buffer.alloc(68).toString("base64")}\n`;
    const holds = (leaf: string, at: number, hashes = proof) => isIncluded(utf8(leaf), { index: at, size, proof: hashes, checkpoint });
    expect(holds(`leaf ${index}`, index), `${index} of ${size}`).toBe(true);
    expect(holds(`leaf ${index + 1}`, index)).toBe(false);
    for (let other = 0; other < Math.min(size + 1, 20); other += 1) expect(holds(`leaf ${index}`, other), `${index} at ${other} of ${size}`).toBe(other === index);
    expect(holds(`leaf ${index}`, index, [...proof, base64url(new Uint8Array(32))])).toBe(false);
    if (proof.length) expect(holds(`leaf ${index}`, index, proof.slice(1))).toBe(false);
  }
});
