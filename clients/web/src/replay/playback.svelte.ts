/** A replay: all frames, the moment that is shown, and whether it runs by itself. */
import { Timeline, type Document, type Frame } from "towerhall-client";

import { withFrame, within } from "./frames";
import type { ReplaySource } from "./source";

export const SPEEDS = [0.5, 1, 2, 4] as const;
const STEP_MS = 1400;

export class Playback {
  readonly #source: ReplaySource;
  #frames = $state.raw<readonly Frame[]>([]);
  #timer = 0;
  /** The number of the newest load: what an older one brings is out of date. */
  #loads = 0;
  state = $state.raw<"loading" | "ready" | "failed">("loading");
  /** Why it failed. */
  fault = $state.raw<unknown>(null);
  at = $state.raw(0);
  playing = $state.raw(false);
  speed = $state.raw(1);
  /** Whether the last change was one step forward: only then things move. */
  stepped = $state.raw(false);

  readonly timeline = $derived(new Timeline(this.#frames));
  readonly last = $derived(this.#frames.length);
  readonly view = $derived<Document>(this.timeline.at(this.at));
  readonly frame = $derived(this.timeline.frame(this.at));

  constructor(source: ReplaySource) {
    this.#source = source;
  }

  /** Loads, and follows what is new, until the answer is called. */
  open(at: number | null): () => void {
    const stop = this.#source.follow((frame) => this.#news(frame));
    void this.load(at);
    return () => {
      stop();
      this.#loads += 1;
      this.pause();
    };
  }

  async load(at: number | null): Promise<void> {
    const mine = (this.#loads += 1);
    this.state = "loading";
    try {
      const frames = await this.#source.load();
      if (mine !== this.#loads) return;
      this.#frames = frames;
      this.at = within(at ?? frames.length, frames.length);
      this.state = "ready";
    } catch (error) {
      if (mine !== this.#loads) return;
      this.fault = error;
      this.state = "failed";
    }
  }

  go(seq: number): void {
    const wanted = within(seq, this.last);
    this.stepped = wanted === this.at + 1;
    this.at = wanted;
  }

  play(): void {
    if (this.at >= this.last) this.go(1);
    this.playing = true;
    this.#wait();
  }

  pause(): void {
    this.playing = false;
    clearTimeout(this.#timer);
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    if (this.playing) this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.go(this.at + 1);
      if (this.at >= this.last) this.pause();
      else this.#wait();
    }, STEP_MS / this.speed);
  }

  #news(frame: Frame | null): void {
    if (this.state !== "ready") return;
    const frames = frame && withFrame(this.#frames, frame);
    if (frames) this.#frames = frames;
    else void this.load(this.at);
  }
}
