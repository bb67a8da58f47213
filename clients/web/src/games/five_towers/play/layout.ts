/** How far the cards of a tower are apart, in hundredths of a card's width, so that the tower keeps within a height. */
import { FLOOR, HEIGHT } from "../art/shape";

/** All of the storey is seen. */
const WIDEST = HEIGHT - FLOOR;
/** The number of a covered card is still seen; it is larger on small cards. */
const NARROWEST = 25;
const NARROWEST_SMALL = 34;

export function stepOf(cards: number, room: number, small = false): number {
  if (cards < 2) return WIDEST;
  return Math.max(small ? NARROWEST_SMALL : NARROWEST, Math.min(WIDEST, (room - HEIGHT) / (cards - 1)));
}

/** The height of a tower with that step. */
export function towerHeight(cards: number, step: number): number {
  return HEIGHT + Math.max(0, cards - 1) * step;
}
