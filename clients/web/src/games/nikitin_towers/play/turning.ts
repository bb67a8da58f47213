/** Turning the held block, and moving it, as seen from where the camera stands. */
import { cubesOf, orientationOf, turned, type Axis, type Cubes } from "./blocks";

/** `turn`: about the upright axis; `tip`: away from the viewer; `roll`: to the viewer's right. */
export type Way = "turn" | "tip" | "roll";

/** Quarters by which the viewer stands off the front. */
function quarters(azimuth: number): number {
  return ((Math.round(azimuth / (Math.PI / 2)) % 4) + 4) % 4;
}

/** A step to the right and away from the viewer, in columns. */
export function step(azimuth: number, right: number, away: number): [x: number, y: number] {
  let [x, y] = [right, away];
  for (let left = quarters(azimuth); left > 0; left -= 1) [x, y] = [-y, x];
  return [x, y];
}

/** The orientation after a quarter turn; `times` is 1 or -1. */
export function turnedOrientation(kind: string, orientation: number, way: Way, times: number, azimuth: number): number {
  const cubes = cubesOf(kind, orientation) ?? [];
  return orientationOf(kind, quarter(cubes, way, times, azimuth)) || orientation;
}

function quarter(cubes: Cubes, way: Way, times: number, azimuth: number): Cubes {
  if (way === "turn") return turned(cubes, 2, -times);
  const [x, y] = way === "tip" ? step(azimuth, 1, 0) : step(azimuth, 0, 1);
  const axis: Axis = x !== 0 ? 0 : 1;
  // Tipping over the right-hand axis would bring the top towards the viewer.
  return turned(cubes, axis, times * (x + y) * (way === "tip" ? -1 : 1));
}
