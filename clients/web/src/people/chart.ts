/** Geometry of the small charts. Pure: numbers in, rectangles out. */

export interface Bar {
  /** The place of these games, from 1 on. */
  place: number;
  count: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The least height of a bar that counts something: a single game must be visible beside a thousand. */
const LEAST = 3;
/** Few bars need not fill the width. */
const BROADEST = 56;

/** One bar for each place, the first place on the left. They stand on the lower edge; the highest one fills the height. */
export function bars(places: readonly number[], width: number, height: number, gap: number): Bar[] {
  const most = Math.max(1, ...places);
  const step = (width + gap) / Math.max(1, places.length);
  return places.map((count, at) => {
    const tall = count === 0 ? 0 : Math.max(LEAST, (height * count) / most);
    const broad = Math.min(BROADEST, step - gap);
    return { place: at + 1, count, x: at * step + (step - gap - broad) / 2, y: height - tall, width: broad, height: tall };
  });
}

/** Where scores lie on a line of that width. Scores below zero get their place as well. */
export function scale(values: readonly number[], width: number): number[] {
  const least = Math.min(0, ...values);
  const span = Math.max(...values, 0) - least || 1;
  return values.map((value) => (width * (value - least)) / span);
}

/** The mean score of some games; 0 if there are none. */
export function mean({ sum, games }: { sum: number; games: number }): number {
  return games === 0 ? 0 : sum / games;
}

/** A difference with its sign; the minus is that of typography. */
export function signed(change: number): string {
  if (change === 0) return "±0";
  return change > 0 ? `+${change}` : `−${-change}`;
}
