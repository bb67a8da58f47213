/** Errors in words. Codes are stable, words are ours; what has no words yet shows the hint that came with it. */
import { ServiceError } from "towerhall-client";

import { t, word, type Params } from "../words/index.svelte";

export function explainCode(code: string, params: Params = {}, hint = ""): string {
  return word(`code.${code}`, inSeconds(params)) ?? (hint || t("code.unknown", { code }));
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
