/** Whole games, played by bots, with what was offered at every move: the same that the harness shows. */
import { readFileSync } from "node:fs";

import { parseRecord, Timeline, type GameRecord, type Offer } from "towerhall-client";

export interface Played {
  record: GameRecord;
  timeline: Timeline;
  /** By seq: the seat to act, and what it is offered. */
  offers: [seq: number, seat: number, offers: Offer[]][];
}

export function played(name: "two" | "three" | "five"): Played {
  const text = readFileSync(new URL(`./harness/${name}.json`, import.meta.url), "utf8");
  const game = JSON.parse(text) as { record: unknown; offers: Record<string, [number, Offer[]]> };
  const record = parseRecord(JSON.stringify(game.record));
  const offers = Object.entries(game.offers).map(([seq, [seat, offered]]): [number, number, Offer[]] => [Number(seq), seat, offered]);
  return { record, timeline: new Timeline(record.frames), offers };
}
