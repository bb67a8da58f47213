/**
 * Blocks as triangles: each is one piece of wood with bevelled outer edges.
 *
 * A face of a cube is a grid of 5 x 5 points. Points on an outer edge are pulled inwards; as that depends on the place only,
 * the faces meet. Neighbouring faces make a point darker, so that joints and corners read even without a shadow.
 */
import { BufferAttribute, BufferGeometry } from "three";

import { sizeOf, type Cube } from "../play/blocks";
import { TONES, type Tone } from "../play/tones";
import { MAT } from "../play/tower";

const BEVEL = 0.06;
const STOPS = [0, BEVEL, 0.5, 1 - BEVEL, 1] as const;
const EDGE_PULL = BEVEL * (1 - Math.SQRT1_2);
const CORNER_PULL = BEVEL * (1 - 1 / Math.sqrt(3));

export interface Piece {
  kind: string;
  /** Tells pieces of one kind apart. */
  turn: number;
  cells: readonly Cube[];
}

type Vector = [number, number, number];
const key = (x: number, y: number, z: number) => `${x},${y},${z}`;
const plus = (one: Readonly<Vector> | Cube, other: Readonly<Vector>, times = 1): Vector => [one[0] + other[0] * times, one[1] + other[1] * times, one[2] + other[2] * times];
const unit = (axis: number, sign: number): Vector => [axis === 0 ? sign : 0, axis === 1 ? sign : 0, axis === 2 ? sign : 0];

/** One geometry for all pieces. `stands` says that they are a tower on a mat, whose parts shade each other. */
export function solid(pieces: readonly Piece[], stands: boolean): BufferGeometry {
  const all = new Map<string, Piece>();
  for (const piece of pieces) for (const [x, y, z] of piece.cells) all.set(key(x, y, z), piece);
  const out = new Points();
  const isFilled = (at: Vector) => all.has(key(...at)) || (stands && at[2] < 0);
  for (const piece of pieces) addPiece(piece, out, isFilled);
  return out.geometry();
}

class Points {
  readonly position: number[] = [];
  readonly normal: number[] = [];
  readonly grain: number[] = [];
  readonly color: number[] = [];
  readonly shade: number[] = [];
  readonly index: number[] = [];

  get count(): number {
    return this.shade.length;
  }

  geometry(): BufferGeometry {
    const geometry = new BufferGeometry();
    for (const [name, size] of [["position", 3], ["normal", 3], ["grain", 3], ["color", 3], ["shade", 1]] as const)
      geometry.setAttribute(name, new BufferAttribute(new Float32Array(this[name]), size));
    geometry.setIndex(this.index);
    return geometry;
  }
}

function addPiece(piece: Piece, out: Points, isFilled: (at: Vector) => boolean): void {
  const own = new Set(piece.cells.map((cell) => key(...cell)));
  const has = (at: Vector) => own.has(key(...at));
  const { order, offset, tone } = woodOf(piece);
  for (const cell of piece.cells)
    for (let axis = 0; axis < 3; axis += 1)
      for (const sign of [-1, 1]) {
        const n = unit(axis, sign);
        if (has(plus(cell, n))) continue;
        const start = out.count;
        for (const v of STOPS)
          for (const u of STOPS) {
            const point = facePoint(cell, axis, sign, u, v, has, isFilled);
            const [x, y, z] = point.at;
            out.position.push(x - MAT / 2, z, MAT / 2 - y);
            out.normal.push(point.normal[0], point.normal[2], -point.normal[1]);
            out.grain.push(...order.map((along, index) => point.at[along]! + offset[index]!));
            out.color.push(...tone);
            out.shade.push(point.shade);
          }
        addQuads(out.index, start, sign > 0);
      }
}

function addQuads(index: number[], start: number, ahead: boolean): void {
  const side = STOPS.length;
  for (let row = 0; row < side - 1; row += 1)
    for (let column = 0; column < side - 1; column += 1) {
      const [a, b] = [start + row * side + column, start + row * side + column + 1];
      const [c, d] = [a + side, b + side];
      index.push(...(ahead ? [a, b, d, a, d, c] : [a, d, b, a, c, d]));
    }
}

/** A point of a face: where it is, which way it looks, and how much light finds it (0 to 1). */
function facePoint(cell: Cube, axis: number, sign: number, u: number, v: number, has: (at: Vector) => boolean, isFilled: (at: Vector) => boolean) {
  const n = unit(axis, sign);
  const [first, second] = [(axis + 1) % 3, (axis + 2) % 3];
  const at: Vector = [...cell];
  at[axis]! += sign > 0 ? 1 : 0;
  at[first]! += u;
  at[second]! += v;
  const sides = [unit(first, endOf(u)), unit(second, endOf(v))].filter((side) => side.some((part) => part !== 0));
  const outer = sides.filter((side) => !has(plus(cell, side)) && !has(plus(plus(cell, side), n)));
  const normal = outer.reduce((sum, side) => plus(sum, side), n);
  const length = Math.hypot(...normal);
  let shade = open(plus(at, n, 0.5), first, second, isFilled);
  // A joint between two pieces.
  if (outer.some((side) => isFilled(plus(cell, side)))) shade *= 0.42;
  return { at: plus(at, pull(cell, n, sides, outer, has)), normal: plus([0, 0, 0], normal, 1 / length), shade };
}

const endOf = (stop: number) => (stop === 0 ? -1 : stop === 1 ? 1 : 0);

/** How far an edge or a corner is rounded off. */
function pull(cell: Cube, n: Vector, sides: readonly Vector[], outer: readonly Vector[], has: (at: Vector) => boolean): Vector {
  if (sides.length < 2) return outer.length ? plus([0, 0, 0], plus(n, outer[0]!), -EDGE_PULL) : [0, 0, 0];
  let filled = 0;
  const lean: Vector = [0, 0, 0];
  for (let octant = 0; octant < 8; octant += 1) {
    const steps = [n, sides[0]!, sides[1]!].map((step, bit) => [step, (octant >> bit) & 1] as const);
    const place = steps.reduce<Vector>((sum, [step, there]) => plus(sum, step, there), [...cell]);
    if (!has(place)) continue;
    filled += 1;
    for (const [step, there] of steps) for (const part of [0, 1, 2]) lean[part]! += step[part]! * (there ? 1 : -1);
  }
  const leaning = lean.filter((part) => part !== 0).length;
  if (filled > 4 || leaning < 2) return [0, 0, 0];
  const far = leaning === 2 ? EDGE_PULL : CORNER_PULL;
  return lean.map((part) => Math.sign(part) * far) as Vector;
}

/** The share of the four cells in front of a point that are free. */
function open(front: Vector, first: number, second: number, isFilled: (at: Vector) => boolean): number {
  let filled = 0;
  for (const du of [-0.5, 0.5])
    for (const dv of [-0.5, 0.5]) {
      const near: Vector = [...front];
      near[first]! += du * 0.98;
      near[second]! += dv * 0.98;
      if (isFilled(near.map(Math.floor) as Vector)) filled += 0.25;
    }
  return 1 - 0.62 * filled;
}

/** Grain runs along the longest side; no two pieces are cut from the same place. */
function woodOf({ kind, turn, cells }: Piece): { order: number[]; offset: Vector; tone: Tone } {
  const spans = [0, 1, 2].map((axis) => Math.max(...cells.map((cell) => cell[axis]!)) - Math.min(...cells.map((cell) => cell[axis]!)));
  const order = [0, 1, 2].sort((one, other) => spans[other]! - spans[one]!);
  const least = [0, 1, 2].map((axis) => Math.min(...cells.map((cell) => cell[axis]!)));
  const chance = (salt: number) => {
    const wild = Math.sin((kind.charCodeAt(0) * 31 + kind.charCodeAt(1) * 7 + turn * 13 + salt) * 12.9898) * 43758.5453;
    return wild - Math.floor(wild);
  };
  const offset: Vector = [chance(1) * 40 - least[order[0]!]!, 1.2 + chance(2) * 3 - least[order[1]!]!, 0.6 + chance(3) * 3 - least[order[2]!]!];
  const tone = TONES[sizeOf(kind) - 1] ?? TONES[0];
  const bright = 0.9 + chance(4) * 0.2;
  return { order, offset, tone: [tone[0] * bright, tone[1] * bright, tone[2] * bright] };
}

/** The outer edges of a piece, as pairs of points. */
export function outline(cells: readonly Cube[]): BufferGeometry {
  const own = new Set(cells.map((cell) => key(...cell)));
  const seen = new Map<string, Vector[]>();
  for (const cell of cells)
    for (let axis = 0; axis < 3; axis += 1)
      for (const one of [-1, 1])
        for (const other of [-1, 1]) {
          const [a, b] = [unit((axis + 1) % 3, one), unit((axis + 2) % 3, other)];
          const [beside, above, across] = [plus(cell, a), plus(cell, b), plus(plus(cell, a), b)].map((at) => own.has(key(...at)));
          // An edge shows where the surface bends.
          if (beside !== above || (beside && across)) continue;
          const from: Vector = plus(plus(cell, [0.5, 0.5, 0.5]), plus(plus(a, b), unit(axis, 1), -1), 0.5);
          seen.set(key(...from), [from, plus(from, unit(axis, 1))]);
        }
  const geometry = new BufferGeometry();
  const points = [...seen.values()].flat().flatMap(([x, y, z]) => [x - MAT / 2, z, MAT / 2 - y]);
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  return geometry;
}
