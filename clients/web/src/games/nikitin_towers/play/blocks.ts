/**
 * The blocks (NT 1) and the ways in which each can lie. Data and geometry only; what may be placed is for the service to say.
 *
 * An orientation is a list of cubes with smallest coordinates 0, sorted. The orientations of a kind are sorted too, and are
 * numbered from 1: the same numbers as in every other client.
 */
export type Cube = readonly [x: number, y: number, z: number];
export type Cubes = readonly Cube[];
export type Axis = 0 | 1 | 2;

interface Kind {
  count: number;
  cubes: string;
}

/** How many there are of each kind, and its cubes as triples of digits. */
const CATALOGUE: Record<string, Kind> = {
  A1: { count: 12, cubes: "000" },
  B1: { count: 9, cubes: "000 100" },
  C1: { count: 3, cubes: "000 100 200" },
  C2: { count: 3, cubes: "000 100 010" },
  D1: { count: 1, cubes: "000 100 200 300" },
  D2: { count: 1, cubes: "000 100 010 110" },
  D3: { count: 1, cubes: "000 100 200 010" },
  D4: { count: 1, cubes: "000 100 200 110" },
  D5: { count: 1, cubes: "000 100 110 210" },
  D6: { count: 1, cubes: "000 100 010 001" },
  E1: { count: 1, cubes: "000 100 200 010 110" },
  E2: { count: 1, cubes: "000 100 200 010 020" },
  E3: { count: 1, cubes: "000 100 110 210 220" },
  E4: { count: 1, cubes: "100 010 110 210 120" },
  E5: { count: 1, cubes: "000 100 200 110 101" },
  E6: { count: 1, cubes: "000 100 110 210 101" },
  F1: { count: 1, cubes: "000 100 200 010 110 210" },
  F2: { count: 1, cubes: "000 100 200 010 110 020" },
  F3: { count: 1, cubes: "000 100 200 010 210 101" },
  F4: { count: 1, cubes: "100 010 110 210 120 111" },
  F5: { count: 1, cubes: "000 100 200 010 020 001" },
  F6: { count: 1, cubes: "000 100 110 111 211 221" },
};

export const KINDS: readonly string[] = Object.keys(CATALOGUE);

export function countOf(kind: string): number {
  return CATALOGUE[kind]?.count ?? 0;
}

/** The number of cubes of a kind: its letter says it. */
export function sizeOf(kind: string): number {
  return kind.charCodeAt(0) - 64;
}

/** A quarter turn about an axis, by the right hand; `times` may be negative. */
export function turned(cubes: Cubes, axis: Axis, times: number): Cube[] {
  const quarter = ([x, y, z]: Cube): Cube => (axis === 0 ? [x, -z, y] : axis === 1 ? [z, y, -x] : [-y, x, z]);
  let found = [...cubes];
  for (let left = ((times % 4) + 4) % 4; left > 0; left -= 1) found = found.map(quarter);
  return found;
}

/** Moved to the corner and sorted: the same shape always gives the same list. */
export function normal(cubes: Cubes): Cube[] {
  const least = ([0, 1, 2] as const).map((axis) => Math.min(...cubes.map((cube) => cube[axis])));
  return cubes.map(([x, y, z]): Cube => [x - least[0]!, y - least[1]!, z - least[2]!]).sort(compareCubes);
}

const known = new Map<string, readonly Cubes[]>();

/** All ways in which a block of that kind can lie; the first has number 1. */
export function orientationsOf(kind: string): readonly Cubes[] {
  let found = known.get(kind);
  if (!found) {
    found = distinct(rotations(base(kind)).map(normal)).sort(compareLists);
    known.set(kind, found);
  }
  return found;
}

/** The cubes of an orientation; undefined if the kind has no such one. */
export function cubesOf(kind: string, orientation: number): Cubes | undefined {
  return orientationsOf(kind)[orientation - 1];
}

/** The number of the orientation that these cubes are, or 0. */
export function orientationOf(kind: string, cubes: Cubes): number {
  const wanted = spelt(normal(cubes));
  return orientationsOf(kind).findIndex((each) => spelt(each) === wanted) + 1;
}

function base(kind: string): Cube[] {
  const triples = CATALOGUE[kind]?.cubes.split(" ") ?? [];
  return triples.map((triple): Cube => [Number(triple[0]), Number(triple[1]), Number(triple[2])]);
}

/** The 24 turns of a body: each of six sides on top, in four directions. */
function rotations(cubes: Cubes): Cube[][] {
  const sides = [...[0, 1, 2, 3].map((times) => turned(cubes, 0, times)), turned(cubes, 1, 1), turned(cubes, 1, 3)];
  return sides.flatMap((side) => [0, 1, 2, 3].map((times) => turned(side, 2, times)));
}

function distinct(lists: Cube[][]): Cube[][] {
  return [...new Map(lists.map((list) => [spelt(list), list])).values()];
}

function spelt(cubes: Cubes): string {
  return cubes.map((cube) => cube.join()).join(" ");
}

function compareCubes(one: Cube, other: Cube): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

function compareLists(one: Cubes, other: Cubes): number {
  for (let index = 0; index < one.length; index += 1) {
    const order = compareCubes(one[index]!, other[index]!);
    if (order) return order;
  }
  return 0;
}
