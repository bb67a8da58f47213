import { describe, expect, test, vi } from "vitest";
import type { Frame, TableEvent } from "towerhall-client";

import { dealtAt, withFrame, within } from "../src/replay/frames";
import { Playback } from "../src/replay/playback.svelte";
import { sourceOfRecord, sourceOfTable, type Past, type ReplaySource } from "../src/replay/source";
import { played } from "./five_towers_games";

const { record, timeline } = played("two");
const numbered = (seq: number): Frame => ({ seq, mark: "", cause: [], facts: [], patch: {} });

test("frames are kept without gap or repetition", () => {
  const frames = [numbered(1), numbered(2)];
  expect(withFrame(frames, numbered(2))).toBe(frames);
  expect(withFrame(frames, numbered(3))?.map((frame) => frame.seq)).toEqual([1, 2, 3]);
  expect(withFrame(frames, numbered(5))).toBeNull();
});

test("a moment is within the game", () => {
  expect([within(-4, 9), within(0, 9), within(3.7, 9), within(99, 9), within(1, 0)]).toEqual([1, 1, 3, 9, 0]);
});

test("a record begins with the deal", () => {
  const start = dealtAt(record.frames);
  expect(timeline.at(start)).toHaveProperty("game");
  expect(timeline.at(start - 1)).not.toHaveProperty("game");
  expect(dealtAt([])).toBe(1);
});

describe("a replay", () => {
  test("shows every moment as it was", async () => {
    const playback = new Playback(sourceOfRecord(record));
    await playback.load(null);
    expect(playback.at).toBe(record.frames.length);
    for (const seq of [1, 40, 7, record.frames.length]) {
      playback.go(seq);
      expect(playback.view).toEqual(timeline.at(seq));
    }
    playback.go(8);
    expect(playback.stepped).toBe(false);
    playback.go(9);
    expect(playback.stepped).toBe(true);
  });

  test("takes in what happens meanwhile, and loads again when the past has changed", async () => {
    let tell: (frame: Frame | null) => void = () => undefined;
    const load = vi.fn(async () => record.frames.slice(0, 10));
    const source: ReplaySource = { seat: 0, live: true, load, follow: (news) => ((tell = news), () => undefined) };
    const playback = new Playback(source);
    const stop = playback.open(5);
    await vi.waitFor(() => expect(playback.state).toBe("ready"));
    tell(record.frames[10]!);
    expect([playback.at, playback.last]).toEqual([5, 11]);
    tell(null);
    await vi.waitFor(() => expect(playback.last).toBe(10));
    expect(load).toHaveBeenCalledTimes(2);
    stop();
  });

  test("shows what the newest load brought, in whatever order loads end", async () => {
    const answers: ((frames: Frame[]) => void)[] = [];
    const playback = new Playback({ ...sourceOfRecord(record), load: () => new Promise((resolve) => answers.push(resolve)) });
    const loads = [playback.load(4), playback.load(9)];
    answers[1]!(record.frames.slice(0, 12));
    answers[0]!(record.frames.slice(0, 5));
    await Promise.all(loads);
    expect([playback.state, playback.at, playback.last]).toEqual(["ready", 9, 12]);
  });

  test("says when nothing can be loaded", async () => {
    const playback = new Playback({ ...sourceOfRecord(record), load: () => Promise.reject(new Error("gone")) });
    await playback.load(1);
    expect(playback.state).toBe("failed");
  });

  test("of a table waits until the room has been entered", async () => {
    let listener: (event: TableEvent) => void = () => undefined;
    const table = { seat: 1, seq: 0, ending: null, history: async () => record.frames, on: (heard: typeof listener) => ((listener = heard), () => undefined) };
    const loading = sourceOfTable(table as Past).load();
    const waiting = Symbol();
    expect(await Promise.race([loading, Promise.resolve(waiting)])).toBe(waiting);
    table.seq = 3;
    listener({ kind: "changed" });
    expect(await loading).toBe(record.frames);
  });
});
