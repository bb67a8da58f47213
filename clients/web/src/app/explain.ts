/** Errors in words. Codes are stable, words are ours; what has no words yet shows the hint that came with it. */
import { ServiceError, type Rejection } from "towerhall-client";

import { t, word, type Params } from "../words/index.svelte";

/** Codes that every game has, with the meaning that they have in the protocol. */
const SHARED: readonly string[] = ["bad_command", "bad_options"];

/** An error of the protocol. */
export function explainCode(code: string, params: Params = {}, hint = ""): string {
  return word(`code.${code}`, inSeconds(params)) ?? (hint || t("code.unknown", { code }));
}

/**
 * A refused command in a room of that game. A rule that begins with "P-" is a clause of the protocol. Every other refusal is
 * the game's: its code means nothing in another game or in the protocol, so only the game's own words and the hint fit.
 */
export function explainRefusal({ code, rule, params, hint }: Omit<Rejection, "kind">, game: string): string {
  if (rule.startsWith("P-")) return explainCode(code, params, hint);
  const shared = SHARED.includes(code) ? word(`code.${code}`) : null;
  return word(`${game}.code.${code}`, params) ?? shared ?? (hint || t("code.unknown", { code }));
}

export function explain(error: unknown): string {
  if (error instanceof ServiceError) return explainCode(error.code, error.params, error.hint);
  return t("code.unknown", { code: error instanceof Error ? error.message : String(error) });
}

/** Waiting times come in milliseconds, and people count in seconds. */
function inSeconds(params: Params): Params {
  const wait = params["retry_ms"];
  return typeof wait === "number" ? { ...params, n: Math.max(1, Math.ceil(wait / 1000)) } : params;
}
