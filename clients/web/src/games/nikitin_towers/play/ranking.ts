/** Who came where. Those who have given up come last, which only the room knows. */
import type { Document } from "towerhall-client";

import { isDocument, pointsOf, type Game } from "./game";

/** Places by seat, from 1; by points as long as the room says nothing. */
export function placesOf(view: Document, game: Game): number[] {
  const room = view["room"];
  const result = isDocument(room) && isDocument(room["result"]) ? room["result"] : {};
  if (Array.isArray(result["places"])) return result["places"].map(Number);
  const points = game.towers.map((tower) => pointsOf(game, tower));
  return points.map((own) => 1 + points.filter((other) => other > own).length);
}

/** The seats that have won; empty before the end. */
export function winnersOf(view: Document, game: Game): number[] {
  if (game.phase !== "over") return [];
  const places = placesOf(view, game);
  return game.towers.map(({ seat }) => seat).filter((seat) => places[seat] === 1);
}
