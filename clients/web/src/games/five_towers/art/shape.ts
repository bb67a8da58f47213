/**
 * The measures that all card pictures share: a card is 100 wide and 140 high.
 *
 * A card shows one storey at its foot and a roof above it. In a tower the next card covers the roof,
 * so that only the top card has one. Storeys of low values are narrower: towers taper as they grow.
 */
export const HEIGHT = 140;
/** Where the storey begins; it ends with the card. */
export const FLOOR = 100;

export interface ArtProps {
  value: number;
  /** Whether another card lies on it: then only the storey is drawn. */
  covered?: boolean;
}

export interface Storey {
  left: number;
  right: number;
  width: number;
  /** Middles of the windows. */
  windows: number[];
}

export function storey(value: number): Storey {
  const half = 22 + value * 0.85;
  const windows = value >= 11 ? [34, 50, 66] : value >= 4 ? [41, 59] : [50];
  return { left: 50 - half, right: 50 + half, width: 2 * half, windows };
}
