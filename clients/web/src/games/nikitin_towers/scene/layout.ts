/** The places of the mats on the table: in a row, or, on a narrow screen, one before the others. */
const LEAST_APART = 6.4;
const GAP = 1.9;
const NARROW = 0.9;

/** Places by seat, for seats from left to right and how far each tower reaches. */
export function placesOf(order: readonly number[], reaches: readonly number[], aspect: number): [x: number, z: number][] {
  const places: [number, number][] = reaches.map(() => [0, 0]);
  let x = 0;
  order.forEach((seat, index) => {
    const previous = order[index - 1];
    if (previous !== undefined) x += Math.max(LEAST_APART, (reaches[previous] ?? 2) + (reaches[seat] ?? 2) + GAP);
    places[seat] = [x, 0];
  });
  const middle = x / 2;
  const narrow = aspect < NARROW;
  return places.map(([at], seat) => {
    const aside = at - middle;
    const back = order.length === 3 ? order[1] !== seat : order[0] !== seat;
    if (!narrow) return order.length === 3 ? [aside * 0.92, back ? -1.2 : 2] : [aside, 0];
    return [aside * 0.66, back ? -3.6 : 3];
  });
}
