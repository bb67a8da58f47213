/** Placements as text (NT 12): `D4.3` is a shape, `D4.3@1,-1` a shape over a column, `D4.3@1,-1,5` one that rests there. */
import { cubesOf, type Cube } from "./blocks";

export interface Placement {
  kind: string;
  orientation: number;
  x: number;
  y: number;
  /** Height of the lowest corner; level 1 is 0. */
  z: number;
}

const FORM = /^([A-F][1-6])\.([1-9][0-9]?)@(0|-?[1-9][0-9]?),(0|-?[1-9][0-9]?)(?:,(0|[1-9][0-9]{0,2}))?$/;

/** Without a height it is 0. Null if the text is no placement of a known block. */
export function readPlacement(text: string): Placement | null {
  const found = FORM.exec(text);
  if (!found) return null;
  const [, kind, orientation, x, y, z] = found;
  const placement = { kind: kind!, orientation: Number(orientation), x: Number(x), y: Number(y), z: Number(z ?? 0) };
  return cubesOf(placement.kind, placement.orientation) ? placement : null;
}

export function shapeOf({ kind, orientation }: Pick<Placement, "kind" | "orientation">): string {
  return `${kind}.${orientation}`;
}

export function writePlacement(placement: Placement): string {
  return `${shapeOf(placement)}@${placement.x},${placement.y},${placement.z}`;
}

/** The cells that the block fills. */
export function cellsOf({ kind, orientation, x, y, z }: Placement): Cube[] {
  return (cubesOf(kind, orientation) ?? []).map((cube): Cube => [cube[0] + x, cube[1] + y, cube[2] + z]);
}
