/** Frames as they come: loaded ones and new ones in any order, kept without gap or repetition. */
import type { Frame } from "towerhall-client";

/** The frames with the new one; unchanged if it is known already, null if one between them is missing. */
export function withFrame(frames: readonly Frame[], frame: Frame): readonly Frame[] | null {
  if (frame.seq <= frames.length) return frames;
  return frame.seq === frames.length + 1 ? [...frames, frame] : null;
}

/** The start of the game: the commit that dealt it, or the first one. */
export function dealtAt(frames: readonly Frame[]): number {
  return frames.findLast((frame) => frame.facts.some(([name]) => name === "dealt"))?.seq ?? 1;
}

/** A moment within the game: the nearest that there is. */
export function within(seq: number, last: number): number {
  return Math.max(Math.min(1, last), Math.min(last, Math.trunc(seq)));
}
