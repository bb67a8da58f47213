/** How far the cards of a tower are apart, in hundredths of a card's width, so that the tower keeps within a height. */
import { FLOOR, HEIGHT } from "../art/shape";

/** All of the storey is seen. */
const WIDEST = HEIGHT - FLOOR;
/** A covered card that shows less is not seen at all. */
const NARROWEST = 9;

/** The tower stays as high as it may be, for what the table reserves does not grow with it. */
export function stepOf(cards: number, room: number): number {
  if (cards < 2) return WIDEST;
  return Math.max(NARROWEST, Math.min(WIDEST, (room - HEIGHT) / (cards - 1)));
}

/** The height of a tower with that step. */
export function towerHeight(cards: number, step: number): number {
  return HEIGHT + Math.max(0, cards - 1) * step;
}
