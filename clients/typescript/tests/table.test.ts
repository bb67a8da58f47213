/** A table over a socket whose other end is the test: entering, playing, and being sent away. */

import { describe, expect, test, vi } from "vitest";
import { ServiceError } from "../src";
import { msgpack } from "../src/codec";
import { json } from "../src/json_codec";
import { FakeSocket, PLAYING, WAITING } from "./fake_socket";
import { heard, join, playing, table } from "./joined";

describe("entering", () => {
  test.each([msgpack, json])("by $subprotocol: greeting, view, seat, offers", (codec) => {
    join({ codec, key: "secret" });
    expect(table.state).toBe("connecting");
    expect(FakeSocket.last.url).toBe("ws://play.example/v1/rooms/QJXKZB");
    const greeting = FakeSocket.last.welcomes(4, PLAYING, { online: [0], watchers: 2 });
    expect(greeting).toEqual({ token: "token", level: 6, origin: greeting["origin"], key: "secret" });
    expect(greeting["origin"]).toMatch(/^[\w-]{11}$/);
    FakeSocket.last.offers(4);
    const { state, seq, seat, you, name, view, online, watchers, level, paused, ending, retryAt } = table;
    expect({ state, seq, seat, you, name, view, online, watchers, level, paused, ending, retryAt }).toEqual({
      state: "up", seq: 4, seat: 0, you: "p_1", name: "Ada", view: PLAYING, online: [0], watchers: 2, level: 1,
      paused: false, ending: null, retryAt: null,
    });
    expect(table.offers).toEqual([{ command: "bid", ranges: { number: [3, 5] } }]);
  });

  test("another token of the same person is used at once, and what was asked is not lost", () => {
    playing();
    void table.send({ command: "want_end" });
    table.useToken("token");
    expect(FakeSocket.all).toHaveLength(1);
    table.useToken("newer");
    expect(FakeSocket.all[0]!.closedBy).toBe(1000);
    expect(FakeSocket.all).toHaveLength(2);
    const greeting = FakeSocket.last.welcomes(4, undefined, { private: true });
    expect(greeting).toMatchObject({ token: "newer", cursor: [expect.any(String), 4, "mark4"] });
    expect(FakeSocket.last.took().map(([name]) => name)).toEqual(["command"]);
    expect([table.state, table.isPrivate]).toEqual(["up", true]);
  });

  test("another token that comes before the connection is open is the one that it greets with", () => {
    join();
    table.useToken("newer");
    expect(FakeSocket.all).toHaveLength(1);
    expect(FakeSocket.last.welcomes(4, PLAYING)).toMatchObject({ token: "newer" });
  });

  test("a table that ended because of its token goes on with another one", () => {
    join();
    FakeSocket.last.opens();
    FakeSocket.last.ends(4401);
    expect(table.state).toBe("ended");
    table.useToken("newer");
    expect(FakeSocket.last.welcomes(4, PLAYING)).toMatchObject({ token: "newer" });
    expect([table.state, table.ending]).toEqual(["up", null]);
  });

  test("what is asked before the welcome waits for it", () => {
    join();
    void table.send({ command: "start" });
    expect(table.unanswered).toBe(1);
    FakeSocket.last.welcomes(1, WAITING);
    expect(FakeSocket.last.took()).toEqual([["command", 1, "", { command: "start" }, false]]);
  });

  test.each([
    [4401, "unauthorized", false],
    [4404, "room_gone", false],
    [4405, "banned", false],
    [4410, "level_too_old", false],
    [4409, "replaced", true],
    [4400, "bad_message", true],
  ])("close %i: it ends as %s and tells why", async (code, name, mayReturn) => {
    join();
    const pending = table.send({ command: "sit" });
    FakeSocket.last.opens();
    FakeSocket.last.says("error", name, { oldest: 2 }, "go away");
    FakeSocket.last.ends(code);
    expect(table.state).toBe("ended");
    expect(table.ending).toEqual({ code, name, params: { oldest: 2 }, hint: "go away", mayReturn });
    await expect(pending).rejects.toMatchObject({ name: "ServiceError", code: name });
    await expect(table.send({ command: "sit" })).rejects.toThrow(ServiceError);
    await expect(table.history(1, 2)).rejects.toMatchObject({ code: name });
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(1);
  });

  test.each([
    { cursor: ["base", 4] },
    { now: ["noon", 5] },
    { you: 7 },
    { seat: "first" },
    { online: 3 },
  ])("a welcome of another shape is none: %o", (wrong) => {
    join();
    FakeSocket.last.welcomes(4, PLAYING, wrong);
    expect(table.state).toBe("away");
  });

  test("an address that is none ends it as well", () => {
    class Refusing {
      constructor() {
        throw new SyntaxError("no address");
      }
    }
    join({ WebSocket: Refusing as unknown as typeof WebSocket });
    expect(table.ending?.name).toBe("bad_address");
  });
});

describe("playing", () => {
  test("a command carries the tag of the offers and is done with its frame", async () => {
    const socket = playing();
    const events = heard();
    const before = table.view;
    const answer = table.send({ command: "bid", number: 3 });
    expect(socket.took()).toEqual([["command", 1, "mark4", { command: "bid", number: 3 }, false]]);
    expect(table.unanswered).toBe(1);
    socket.frame(5, [0, FakeSocket.origin, 1], { game: { turn: 1 } });
    expect(await answer).toEqual({ kind: "done", seq: 5 });
    expect(table.unanswered).toBe(0);
    expect(table.offers).toEqual([]);
    expect(events).toEqual([
      { kind: "frame", frame: { seq: 5, mark: "mark5", cause: [0, FakeSocket.origin, 1], facts: [["happened", 5]], patch: { game: { turn: 1 } } }, before, after: table.view },
    ]);
    expect(table.view["room"]).toBe(before["room"]);
  });

  test("dry runs and refusals are told to the caller", async () => {
    const socket = playing();
    const dry = table.dry({ command: "bid", number: 3 });
    const wrong = table.send({ command: "bid", number: 9 });
    expect(socket.took().map((command) => command[4])).toEqual([true, false]);
    socket.says("accepted", 1, { score: 7 });
    socket.says("rejected", 2, "bid_out_of_range", "5", { most: 5 }, "Name a number from 0 to 5.");
    expect(await dry).toEqual({ kind: "accepted", effect: { score: 7 } });
    expect(await wrong).toEqual({ kind: "rejected", code: "bid_out_of_range", rule: "5", params: { most: 5 }, hint: "Name a number from 0 to 5." });
  });

  test("the ninth command waits, and is stale if the game goes on meanwhile", async () => {
    const socket = playing();
    const answers = Array.from({ length: 10 }, (_, at) => table.send({ command: "bid", number: at }));
    const start = table.send({ command: "start" });
    expect(socket.took()).toHaveLength(8);
    expect(table.unanswered).toBe(11);
    socket.frame(5, [0, FakeSocket.origin, 1], { game: { turn: 1 } });
    for (let n = 2; n <= 8; n += 1) socket.says("rejected", n, "stale", "P-43", {}, "");
    expect(await answers[9]).toMatchObject({ kind: "rejected", code: "stale" });
    expect(socket.took()).toEqual([["command", 9, "", { command: "start" }, false]]);
    socket.says("duplicate", 9, 6);
    expect(await start).toEqual({ kind: "done", seq: 6 });
  });

  test("nothing is offered when the room is over", () => {
    const socket = playing();
    socket.frame(5, [], { room: { status: "over" } });
    expect(table.offers).toEqual([]);
  });

  test("what no document can hold is refused where it was asked", async () => {
    playing();
    await expect(table.send({ command: "bid", number: 0.5 })).rejects.toMatchObject({ code: "number_out_of_range" });
    expect(table.unanswered).toBe(0);
  });

  test("chat comes once, emotes, searches and errors come as they are", () => {
    const socket = playing();
    const events = heard();
    table.chat("good evening");
    table.emote("thanks");
    expect(socket.took()).toEqual([["chat", "good evening"], ["emote", "thanks"]]);
    socket.says("chat", "1-0", "Ada", -1, "good evening", 17, "cGVyc29uMDE");
    socket.says("chat", "1-0", "Ada", -1, "good evening", 17, "cGVyc29uMDE");
    socket.says("emote", "Ben", 1, "thanks");
    socket.says("searching", 1, 2);
    socket.says("error", "too_many", { retry_ms: 5 }, "too much at once");
    socket.says("confetti", 1);
    expect(events).toEqual([
      { kind: "chat", id: "1-0", name: "Ada", seat: null, text: "good evening", wallMs: 17, who: "cGVyc29uMDE" },
      { kind: "emote", name: "Ben", seat: 1, emote: "thanks", who: "" },
      { kind: "searching", n: 1, ahead: 2 },
      { kind: "error", code: "too_many", params: { retry_ms: 5 }, hint: "too much at once" },
    ]);
  });

  test("an absence goes on by itself until its person is back", () => {
    const socket = playing();
    socket.says("presence", [0], 0, [0, 45_000]);
    expect(table.awayMs(1)).toBe(45_000);
    vi.advanceTimersByTime(1000);
    expect(table.awayMs(1)).toBe(46_000);
    expect(table.awayMs(0)).toBeNull();
    socket.says("presence", [0, 1], 0, [0, 0]);
    expect(table.awayMs(1)).toBeNull();
    // A server of an older level does not tell.
    socket.says("presence", [0], 0);
    expect(table.awayMs(1)).toBeNull();
  });

  test("a listener that fails does not affect the others", async () => {
    const failed: unknown[] = [];
    const hear = (error: unknown): void => void failed.push(error);
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", hear);
    const socket = playing();
    const stop = table.on(() => {
      throw new Error("a fault in the page");
    });
    const events = heard();
    socket.frame(5, [], { room: { a: 1 } });
    stop();
    socket.frame(6, [], { room: { a: 2 } });
    vi.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve, 0));
    process.off("uncaughtException", hear);
    for (const other of others) process.on("uncaughtException", other);
    expect(events).toHaveLength(2);
    expect(table.state).toBe("up");
    expect(failed.length).toBeGreaterThan(0);
  });
});
