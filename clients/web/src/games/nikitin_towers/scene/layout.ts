/** The places of the mats on the table: in a row on a wide screen, and the narrower it is, the more the own tower comes to the front. */
const LEAST_APART = 6.4;
const GAP = 1.9;
/** Width by height of the pictures at which the mats are moved as far as they go. */
const [NARROW, WIDE] = [0.9, 2];

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
  const row = Math.min(1, Math.max(0, (aspect - NARROW) / (WIDE - NARROW)));
  const between = (narrow: number, wide: number) => narrow + (wide - narrow) * row;
  const isThree = order.length === 3;
  return places.map(([at], seat) => {
    const isBack = order[isThree ? 1 : 0] !== seat;
    return [(at - middle) * between(0.66, isThree ? 0.92 : 1), isBack ? between(-3.6, isThree ? -1.2 : 0) : between(3, isThree ? 2 : 0)];
  });
}
