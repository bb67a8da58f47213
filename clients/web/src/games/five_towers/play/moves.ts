/**
 * Which card goes where when a frame arrives, for the eye only: the view is right without it.
 *
 * A place is the name of an element of the board (`data-place`).
 */
import type { Fact } from "towerhall-client";

import { cardOf, type Kind } from "./cards";

export interface Move {
  card: string;
  from: string;
  to: string;
  /** Milliseconds after the frame. */
  delay: number;
  /** The card stays where it went; else a copy of it flies there and vanishes. */
  stays: boolean;
}

export const PILE = "pile";
export const DISCARD = "discard";
export const inDisplay = (card: string) => `display ${card}`;
export const inTower = (seat: number, kind: Kind, height: number) => `tower ${seat} ${kind} ${height}`;
export const tornDown = (seat: number) => `torn ${seat}`;

const EACH = 55;
const PAUSE = 140;

/** `heights` tells how high a seat's tower was before the frame. */
export function movesOf(facts: readonly Fact[], heights: (seat: number, kind: Kind) => number): Move[] {
  const moves: Move[] = [];
  let delay = 0;
  const add = (card: string, from: string, to: string, stays: boolean) => {
    moves.push({ card, from, to, delay, stays });
    delay += EACH;
  };
  for (const [name, first, second, third] of facts) {
    const cards = (Array.isArray(first) ? first : []) as string[];
    switch (name) {
      case "card_demolished": {
        const { kind } = cardOf(String(second));
        add(String(second), inTower(Number(first), kind, heights(Number(first), kind)), tornDown(Number(first)), false);
        break;
      }
      case "card_built":
        add(String(second), inDisplay(String(second)), inTower(Number(first), cardOf(String(second)).kind, Number(third)), true);
        break;
      case "display_cleared":
        if (moves.length) delay += PAUSE;
        for (const card of cards) add(card, inDisplay(card), DISCARD, false);
        break;
      case "round_started":
        if (moves.length) delay += PAUSE;
        for (const card of third as string[]) add(card, PILE, inDisplay(card), true);
        break;
    }
  }
  return moves;
}
