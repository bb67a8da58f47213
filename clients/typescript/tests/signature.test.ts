/** What a server has signed is checked where the platform has Ed25519, and is called unchecked where not. */

import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { base64url, type GameRecord, isSigned, keyId, parseRecord, checkRecord } from "../src";
import { bigEndian, fromBase64url, joined, utf8 } from "../src/bytes";

const TRUE = new URL("../../../protocol/vectors/records/true.json", import.meta.url);
const record = parseRecord(readFileSync(TRUE, "utf-8"));
const STATEMENT = { uid: record.uid, commitment: record.proof.commitment, seq: record.commits.length, chain: record.chain };

async function keyPair(): Promise<{ publicKey: string; sign: (data: Uint8Array) => Promise<string> }> {
  const { publicKey, privateKey } = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  return {
    publicKey: base64url(new Uint8Array(await crypto.subtle.exportKey("raw", publicKey))),
    sign: async (data) => base64url(new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, new Uint8Array(data)))),
  };
}

function said({ uid, commitment, seq, chain } = STATEMENT): Uint8Array {
  return joined(utf8("towerhall/1/statement\0"), fromBase64url(uid), fromBase64url(commitment), bigEndian(seq, 8), fromBase64url(chain));
}

async function signatureOf(found: GameRecord, keys: Record<string, string>): Promise<unknown> {
  return (await checkRecord(found, { keys })).find(({ name }) => name === "signature");
}

afterEach(() => vi.unstubAllGlobals());

describe("the signature of a record", async () => {
  const { publicKey, sign } = await keyPair();
  const key = keyId(fromBase64url(publicKey));
  const signed = { ...record, signed: { key, signature: await sign(said()) } };

  test("holds for its end and its key only", async () => {
    expect(await signatureOf(signed, { [key]: publicKey })).toEqual({ name: "signature", ok: true, detail: { key } });
    const other = { ...signed, signed: { key, signature: await sign(said({ ...STATEMENT, seq: 1 })) } };
    expect(await signatureOf(other, { [key]: publicKey })).toMatchObject({ ok: false });
    expect(await isSigned(STATEMENT, signed.signed.signature, (await keyPair()).publicKey)).toBe(false);
  });

  test("is under no seal, so that it may be added", async () => {
    expect((await checkRecord(signed)).filter(({ ok }) => !ok)).toEqual([]);
  });

  test("is called unchecked without a signature, a key, or Ed25519", async () => {
    expect(await signatureOf(record, { [key]: publicKey })).toMatchObject({ ok: true, skipped: "no_signature" });
    expect(await signatureOf(signed, {})).toMatchObject({ ok: true, skipped: "no_key" });
    vi.stubGlobal("crypto", {});
    expect(await signatureOf(signed, { [key]: publicKey })).toMatchObject({ ok: true, skipped: "no_ed25519" });
  });
});
