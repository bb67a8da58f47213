/** A block of a drawing. */
import type { Cube } from "../play/blocks";

export interface Drawn {
  kind: string;
  cells: readonly Cube[];
  look?: "ghost" | "bad";
}
