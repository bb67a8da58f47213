/** The person's wishes for a room, before the request. */
import type { Document, GameDescription } from "towerhall-client";

import { defaults, type Pace } from "./options";

export interface Wishes {
  game: string;
  seats: number;
  options: Document;
  turnSeconds: number;
  pace: Pace;
  isPrivate: boolean;
  /** Whether programs of other people may sit without an invitation. */
  botAccounts: boolean;
  /** The result counts for ratings, and bots take no seat (P-201). */
  rated: boolean;
}

export function newWishes(game: GameDescription, pace: Pace): Wishes {
  const [least, most] = game.seats;
  return { game: game.name, seats: Math.min(most, Math.max(least, 3)), options: defaults(game), turnSeconds: 0, pace, isPrivate: false, botAccounts: false, rated: false };
}
