import type { Document, Patch, Value } from "./types.ts";

export function isMap(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The document after the patch (P-33). Unchanged parts are shared with the document, and a document that it
 * does not change at all is returned itself: a comparison by identity finds the changes.
 */
export function mergePatch<D extends Value>(document: D, patch: Patch): Document {
  const before: Document = isMap(document) ? document : {};
  let result: Document | null = null;
  for (const [key, value] of Object.entries(patch)) {
    // This one key would reach behind the document; no server sends it.
    if (key === "__proto__") continue;
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    let next: Value | undefined;
    if (value === null) next = undefined;
    else if (isMap(value)) next = mergePatch(old ?? {}, value);
    else next = value as Value;
    if (next === old) continue;
    result ??= { ...before };
    if (next === undefined) delete result[key];
    else result[key] = next;
  }
  return result ?? before;
}
