/** The end of a game by place: points taken apart, as the view has them. */
import type { Document } from "towerhall-client";

import { KINDS, type Kind } from "./cards";
import { isDocument, readGame, type Score, type Towers } from "./game";

export interface Ranked {
  seat: number;
  place: number;
  score: Score;
}

/** Points as they are written: with a minus as wide as a plus. */
export function spelt(points: number): string {
  return String(points).replace("-", "−");
}

/** Best first, equal places by seat; empty while the game goes on. */
export function rankingOf(view: Document): Ranked[] {
  const game = readGame(view);
  const room = view["room"];
  const result = isDocument(room) && isDocument(room["result"]) ? room["result"] : {};
  const places = Array.isArray(result["places"]) ? result["places"].map(Number) : [];
  const rows = [...(game?.scores ?? [])].map(([seat, score]) => ({ seat, place: places[seat] ?? placeOf(score, game!.scores.values()), score }));
  return rows.sort((a, b) => a.place - b.place || a.seat - b.seat);
}

/** The tower that brought most: its cards, twice as much below a spire. Null if there is none. */
export function bestTower(towers: Towers): { kind: Kind; values: readonly number[] } | null {
  const worth = (kind: Kind) => towers[kind].length * (towers[kind].at(-1) === 0 ? 2 : 1);
  const [best] = [...KINDS].sort((one, other) => worth(other) - worth(one));
  return best && towers[best].length ? { kind: best, values: towers[best] } : null;
}

function placeOf(score: Score, all: Iterable<Score>): number {
  return 1 + [...all].filter((other) => other.total > score.total).length;
}
