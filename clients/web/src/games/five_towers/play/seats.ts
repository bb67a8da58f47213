/** Players in one character. */

/** The initial, or the number of the seat where initials are the same: colours alone do not distinguish players. */
export function markOfSeat(names: readonly string[], seat: number): string {
  const initials = names.map(initialOf);
  const own = initials[seat];
  return own && initials.filter((each) => each === own).length === 1 ? own : String(seat + 1);
}

function initialOf(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? "";
}
