/** Old frames, page by page, over breaks and refusals; and the view at any of them. */

import { describe, expect, test, vi } from "vitest";
import { type Document, mergePatch, type Patch, Timeline } from "../src";
import { BASE, FakeSocket, frameOf, PLAYING } from "./fake_socket";
import { playing, table } from "./joined";

function wire(first: number, last: number): unknown[] {
  return Array.from({ length: last - first + 1 }, (_, at) => ["frame", first + at, `mark${first + at}`, [], [], {}]);
}

describe("history", () => {
  test("comes in pages until all is there", async () => {
    const socket = playing();
    const frames = table.history(1);
    expect(socket.took()).toEqual([["history", 1, 4]]);
    socket.says("history", wire(1, 3), 4);
    expect(socket.took()).toEqual([["history", 4, 4]]);
    socket.says("history", wire(4, 4), 4);
    expect((await frames).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test("one wish after the other, and an empty page ends one", async () => {
    const socket = playing();
    const both = Promise.all([table.history(2, 3), table.history(1, 9), table.history(5, 4)]);
    expect(socket.took()).toEqual([["history", 2, 3]]);
    socket.says("history", wire(2, 3), 3);
    expect(socket.took()).toEqual([["history", 1, 9]]);
    socket.says("history", wire(1, 4), 4);
    socket.says("history", [], 4);
    expect((await both).map((frames) => frames.length)).toEqual([2, 4, 0]);
  });

  test("is asked for again after a break, from where it stands", async () => {
    const socket = playing();
    const frames = table.history(1);
    socket.says("history", wire(1, 2), 4);
    socket.ends();
    vi.advanceTimersByTime(250);
    FakeSocket.last.welcomes(4);
    expect(FakeSocket.last.took()).toEqual([["history", 3, 4]]);
    FakeSocket.last.says("history", wire(3, 4), 4);
    expect((await frames).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test("is asked for again as late as the server wants it", async () => {
    const socket = playing();
    const frames = table.history(1);
    socket.took();
    socket.says("error", "too_many", { retry_ms: 700 }, "");
    vi.advanceTimersByTime(699);
    expect(socket.took()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(socket.took()).toEqual([["history", 1, 4]]);
    socket.says("error", "store_unavailable", {}, "");
    vi.advanceTimersByTime(1000);
    expect(socket.took()).toEqual([["history", 1, 4]]);
    socket.says("history", wire(1, 4), 4);
    expect(await frames).toHaveLength(4);
  });

  test("what is not there is refused, and the next wish is asked for", async () => {
    const socket = playing();
    const wrong = table.history(90, 99);
    const right = table.history(4);
    socket.says("error", "bad_range", { last: 4 }, "no such frames");
    await expect(wrong).rejects.toMatchObject({ code: "bad_range", params: { last: 4 } });
    expect(socket.took()).toEqual([["history", 90, 99], ["history", 4, 4]]);
    socket.says("history", wire(4, 4), 4);
    expect(await right).toHaveLength(1);
  });

  test.each([
    ["a page of a range that goes on further", ["history", wire(1, 4), 4]],
    ["frames beyond the range", ["history", wire(1, 4), 2]],
    ["a page that begins elsewhere", ["history", wire(2, 2), 2]],
    ["an empty page of another range", ["history", [], 4]],
    ["a refusal of another range", ["error", "bad_range", { last: 4 }, "no such frames"]],
  ])("%s answers something else", async (_name, message) => {
    const socket = playing();
    const frames = table.history(1, 2);
    expect(socket.took()).toEqual([["history", 1, 2]]);
    socket.says(...message);
    expect(socket.took()).toEqual([]);
    socket.says("history", wire(1, 2), 2);
    expect((await frames).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test("a page that was left out for a slow reader is asked for again", () => {
    const socket = playing();
    table.history(1).catch(() => undefined); // it is never answered
    socket.took();
    socket.says("reset", [BASE, 4, "mark4"], PLAYING, 0);
    expect(socket.took()).toEqual([["history", 1, 4]]);
  });

  test("an error of another message leads to no frame twice", async () => {
    const socket = playing();
    const [frames, others] = [table.history(1, 4), table.history(1, 3)];
    socket.says("error", "too_many", { retry_ms: 10 }, "meant for a line of chat");
    vi.advanceTimersByTime(10);
    expect(socket.took()).toEqual([["history", 1, 4], ["history", 1, 4]]);
    socket.says("history", wire(1, 2), 4);
    socket.says("history", wire(1, 2), 4);
    expect(socket.took()).toEqual([["history", 3, 4]]);
    socket.says("history", wire(3, 4), 4);
    expect(socket.took()).toEqual([["history", 1, 3]]);
    socket.says("history", wire(1, 2), 4);
    socket.says("history", wire(1, 3), 3);
    expect((await frames).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect((await others).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  test("a page that comes after all is not waited for any longer", async () => {
    const socket = playing();
    const frames = table.history(1);
    socket.says("error", "store_unavailable", {}, "meant for a command");
    socket.says("history", wire(1, 4), 4);
    expect(await frames).toHaveLength(4);
    socket.took();
    vi.advanceTimersByTime(5_000);
    expect(socket.took()).toEqual([]);
  });

  test("a range that goes on beyond the log ends with it, unless the log became shorter", async () => {
    const socket = playing();
    const [longer, shorter] = [table.history(1, 9), table.history(1, 9)];
    socket.says("history", wire(1, 4), 4);
    socket.says("error", "bad_range", { last: 4 }, "no such frames");
    expect(await longer).toHaveLength(4);
    socket.says("history", wire(1, 4), 4);
    socket.says("error", "bad_range", { last: 2 }, "no such frames");
    await expect(shorter).rejects.toMatchObject({ code: "bad_range" });
  });
});

describe("timeline", () => {
  const patches: Patch[] = Array.from({ length: 100 }, (_, at) =>
    at % 7 === 6 ? { game: null } : { room: { seq: at + 1 }, game: { [`card:${at % 5}`]: at, last: [at] } },
  );
  const frames = patches.map((patch, at) => frameOf(at + 1, patch));
  const views = patches.reduce<Document[]>((all, patch) => [...all, mergePatch(all.at(-1)!, patch)], [{}]);

  test.each([
    ["forwards", views.map((_, seq) => seq)],
    ["backwards", views.map((_, seq) => 100 - seq)],
    ["here and there", views.map((_, seq) => (seq * 37) % 101)],
  ])("has the very view at every seq, %s", (_name, seqs) => {
    const timeline = new Timeline(frames);
    for (const seq of seqs) expect(timeline.at(seq), `at ${seq}`).toEqual(views[seq]);
    expect(timeline.last).toBe(100);
    expect([timeline.frame(0), timeline.frame(1), timeline.frame(101)]).toEqual([null, frames[0], null]);
  });

  test("beyond its ends are the ends", () => {
    const timeline = new Timeline(frames);
    expect([timeline.at(-3), timeline.at(900), timeline.at(NaN)]).toEqual([{}, views[100], {}]);
    expect(new Timeline([]).at(3)).toEqual({});
  });

  test("it grows while a game goes on, and a gap is none of its business", () => {
    const timeline = new Timeline(frames.slice(0, 40));
    expect(timeline.at(40)).toEqual(views[40]);
    for (const frame of frames.slice(40)) timeline.add(frame);
    expect([timeline.last, timeline.at(100), timeline.at(64)]).toEqual([100, views[100], views[64]]);
    expect(() => timeline.add(frames[99]!)).toThrow("frame 101 is missing");
    expect(() => new Timeline([frames[0]!, frames[2]!])).toThrow("frame 2 is missing");
  });

  test("what a patch does not touch is shared", () => {
    const before = mergePatch(PLAYING, {});
    expect(before).toBe(PLAYING);
    const after = mergePatch(PLAYING, { game: { turn: 1 }, room: { seats: { "0": { name: "Ada" } } } });
    expect(after["room"]).toBe(PLAYING.room);
    expect(after["game"]).toEqual({ turn: 1 });
    expect(mergePatch(PLAYING, JSON.parse('{"__proto__":{"x":1}}') as Patch)).toBe(PLAYING);
  });
});
