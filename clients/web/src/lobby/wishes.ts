/** What somebody wants of a room, before it is asked for. */
import type { Document, GameDescription } from "towerhall-client";

import { defaults, PACES } from "./options";

export interface Wishes {
  game: string;
  seats: number;
  options: Document;
  turnSeconds: number;
  botDelayMs: number;
  isPrivate: boolean;
}

export function newWishes(game: GameDescription): Wishes {
  const [least, most] = game.seats;
  return { game: game.name, seats: Math.min(most, Math.max(least, 3)), options: defaults(game), turnSeconds: 0, botDelayMs: PACES.usual, isPrivate: false };
}
