import { mergePatch } from "./merge_patch.ts";
import type { Document, Frame } from "./types.ts";

const EVERY = 32;

/** The view at any commit, made again from the frames 1, 2, 3 ... of a room. */
export class Timeline {
  readonly #frames: Frame[] = [];
  /** Views after every 32 commits, so that a jump plays forward over a few frames only. */
  readonly #snapshots: Document[] = [{}];
  #near: { seq: number; view: Document } = { seq: 0, view: {} };

  constructor(frames: readonly Frame[]) {
    for (const frame of frames) this.add(frame);
  }

  /** One more, after the last. */
  add(frame: Frame): void {
    if (frame.seq !== this.last + 1) throw new RangeError(`frame ${this.last + 1} is missing`);
    this.#frames.push(frame);
  }

  /** The last commit. */
  get last(): number {
    return this.#frames.length;
  }

  frame(seq: number): Frame | null {
    return this.#frames[seq - 1] ?? null;
  }

  /** The view after that commit; `{}` at 0. Beyond the ends it is the view at the end. */
  at(seq: number): Document {
    const wanted = Math.max(0, Math.min(this.last, Math.trunc(seq) || 0));
    let place = Math.min(Math.floor(wanted / EVERY), this.#snapshots.length - 1);
    let at = place * EVERY;
    let view = this.#snapshots[place]!;
    if (this.#near.seq > at && this.#near.seq <= wanted) ({ seq: at, view } = this.#near);
    while (at < wanted) {
      view = mergePatch(view, this.#frames[at]!.patch);
      at += 1;
      place = at / EVERY;
      if (place === this.#snapshots.length) this.#snapshots.push(view);
    }
    this.#near = { seq: wanted, view };
    return view;
  }
}
