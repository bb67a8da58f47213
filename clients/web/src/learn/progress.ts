/** How far this device is in each lesson. */
import { isMap, keep, kept } from "../app/kept";

const NAME = "lessons";

/** The beat at which the lesson goes on; the first one if the lesson has another length now. */
export function beatOf(game: string, beats: number): number {
  const at = read()[game];
  return typeof at === "number" && Number.isInteger(at) && at >= 0 && at < beats ? at : 0;
}

export function keepBeat(game: string, at: number): void {
  keep(NAME, { ...read(), [game]: at });
}

function read(): Record<string, unknown> {
  return kept<Record<string, unknown>>(NAME, {}, isMap);
}
