/** Sentences of the log: keys of the catalogue and what fills them. They call the viewer "you". */
import type { Document, Value } from "towerhall-client";

import type { Params } from "../words/index.svelte";

/** An entry of the worded log: a key of the catalogue and what fills it. */
export interface Said {
  key: string;
  params: Params;
}

export interface Telling {
  view: Document;
  /** Names by seat. */
  names: readonly string[];
  /** The viewer's seat, or null. */
  seat: number | null;
}

export function nameOf(seat: Value | undefined, { names }: Pick<Telling, "names">): string {
  return names[Number(seat)] || `#${Number(seat) + 1}`;
}

/** A sentence about that seat. Each such key has a second one that ends in `.you`, for the viewer's own seat. */
export function sayOf(seat: Value | undefined, telling: Pick<Telling, "names" | "seat">, key: string, params: Params = {}): Said {
  if (telling.seat !== null && seat === telling.seat) return { key: `${key}.you`, params };
  return { key, params: { name: nameOf(seat, telling), ...params } };
}
