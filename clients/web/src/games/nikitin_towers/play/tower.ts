/** A tower as cells: what the view lists, and how high its columns are. Whether it stands is for the service to say. */
import { cubesOf, type Cube } from "./blocks";
import { cellsOf, type Placement } from "./notation";

/** Side of the mat. */
export const MAT = 3;

export interface Block extends Placement {
  /** The number of the turn in which it was placed. */
  turn: number;
}

export interface Cell {
  at: Cube;
  block: Block;
}

export function cells(blocks: readonly Block[]): Cell[] {
  return blocks.flatMap((block) => cellsOf(block).map((at) => ({ at, block })));
}

export const columnKey = (x: number, y: number) => `${x},${y}`;

/** Height of the highest cube of each column that has any. */
export function tops(blocks: readonly Placement[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [x, y, z] of blocks.flatMap(cellsOf)) {
    const key = columnKey(x, y);
    found.set(key, Math.max(found.get(key) ?? 0, z + 1));
  }
  return found;
}

/** Where a block comes to rest over that column (NT 3): the highest top below its cubes. */
export function restOf(heights: ReadonlyMap<string, number>, held: Pick<Placement, "kind" | "orientation" | "x" | "y">): number {
  const cubes = cubesOf(held.kind, held.orientation) ?? [];
  return Math.max(0, ...cubes.map(([x, y, z]) => (heights.get(columnKey(held.x + x, held.y + y)) ?? 0) - z));
}

export interface Extent {
  least: [x: number, y: number];
  most: [x: number, y: number];
}

/** The columns that the mat and these cells take. */
export function extentOf(all: readonly Cube[]): Extent {
  const xs = all.map(([x]) => x);
  const ys = all.map(([, y]) => y);
  return {
    least: [Math.min(0, ...xs), Math.min(0, ...ys)],
    most: [Math.max(MAT - 1, ...xs), Math.max(MAT - 1, ...ys)],
  };
}

/** How many of the eight rim cells of each level are occupied, from level 1 up. */
export function rims(all: readonly Cube[], height: number): number[] {
  const filled = new Array<number>(height).fill(0);
  for (const [x, y, z] of all) {
    const isRim = x >= 0 && y >= 0 && x < MAT && y < MAT && !(x === 1 && y === 1);
    if (isRim && z < height) filled[z]! += 1;
  }
  return filled;
}
