/** Every way to lose a connection: the client comes back when it may, and loses nothing. */

import { describe, expect, test, vi } from "vitest";
import { BASE, FakeSocket, PLAYING } from "./fake_socket";
import { heard, join, playing, table } from "./joined";

describe("breaks", () => {
  test("dropped at any point of a game: everything is done once and nothing is lost", async () => {
    // The server's side of a short game, cut after each of its messages in turn.
    for (let cut = 0; cut <= 3; cut += 1) {
      const socket = playing();
      const origin = FakeSocket.origin;
      const answer = table.send({ command: "bid", number: 3 });
      const script = [
        () => FakeSocket.last.frame(5, [1], { room: { watched: true } }),
        () => FakeSocket.last.frame(6, [0, origin, 1], { game: { turn: 1, bid: 3 } }),
        () => FakeSocket.last.frame(7, [1], { game: { turn: 0 } }),
      ];
      script.slice(0, cut).forEach((say) => say());
      socket.took();
      socket.ends();
      expect(table.state).toBe("away");
      expect(table.offers).toEqual([]);
      vi.advanceTimersByTime(250);
      expect(FakeSocket.all).toHaveLength(2);
      const greeting = FakeSocket.last.welcomes(4 + cut);
      expect(greeting["cursor"]).toEqual([BASE, 4 + cut, `mark${4 + cut}`]);
      expect(greeting["origin"]).toBe(origin);
      const again = cut < 2 ? [["command", 1, "mark4", { command: "bid", number: 3 }, false]] : [];
      expect(FakeSocket.last.took()).toEqual(again);
      script.slice(cut).forEach((say) => say());
      if (cut < 2) FakeSocket.last.says("duplicate", 1, 6);
      expect(await answer).toEqual({ kind: "done", seq: 6 });
      expect(table.view).toEqual({ room: { ...PLAYING.room, watched: true }, game: { turn: 0, bid: 3 } });
      expect([table.state, table.seq, table.unanswered]).toEqual(["up", 7, 0]);
      table.close();
    }
  });

  test("commands are sent again in order after every break, and those given meanwhile after them", () => {
    const socket = playing();
    void table.send({ command: "bid", number: 3 });
    void table.send({ command: "leave" });
    socket.ends();
    void table.dry({ command: "pass" });
    const commands = [
      ["command", 1, "mark4", { command: "bid", number: 3 }, false],
      ["command", 2, "", { command: "leave" }, false],
      ["command", 3, "mark4", { command: "pass" }, true],
    ];
    vi.advanceTimersByTime(250);
    FakeSocket.last.ends();
    vi.advanceTimersByTime(500);
    FakeSocket.last.welcomes(4);
    expect(FakeSocket.last.took()).toEqual(commands);
    FakeSocket.last.says("reset", [BASE, 3, "other3"], PLAYING, 1);
    expect(FakeSocket.last.took()).toEqual(commands);
  });

  test("what the server turned away is sent again in order, before any later command", () => {
    const socket = playing();
    for (let n = 1; n <= 10; n += 1) void table.send({ command: "ready", nonce: `${n}` });
    const numbers = (): unknown[] => socket.took().map(([, n]) => n);
    expect(numbers()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const n of [7, 8]) socket.says("error", "too_many_unanswered", { most: 8, n }, "wait for answers");
    socket.frame(5, [1], { room: { watched: true } });
    expect(numbers()).toEqual([]);
    socket.says("duplicate", 1, 4);
    expect(numbers()).toEqual([7, 8, 9]);
    for (let n = 2; n <= 8; n += 1) socket.says("duplicate", n, 4);
    expect(numbers()).toEqual([10]);
    for (const n of [9, 10]) socket.says("duplicate", n, 4);
    expect(table.unanswered).toBe(0);
  });

  test("a lone command that was turned away waits for a sign of life", () => {
    const socket = playing();
    void table.send({ command: "bid", number: 3 });
    const command = socket.took()[0];
    socket.says("error", "too_many_unanswered", { most: 8, n: 1 }, "wait for answers");
    vi.advanceTimersByTime(15_000);
    expect(socket.took()).toEqual([["ping", 4]]);
    socket.says("pong", 4, [9000, 5000]);
    expect(socket.took()).toEqual([command]);
    socket.ends();
    vi.advanceTimersByTime(250);
    FakeSocket.last.welcomes(4);
    expect(FakeSocket.last.took()).toEqual([command]);
    FakeSocket.last.says("pong", 4, [9000, 5000]);
    expect(FakeSocket.last.took()).toEqual([]);
  });

  test("offers of the old connection are gone, and late ones are passed over", () => {
    playing().ends();
    vi.advanceTimersByTime(250);
    FakeSocket.last.welcomes(4);
    expect(table.offers).toEqual([]);
    FakeSocket.last.frame(5, [1], { game: { turn: 1 } });
    FakeSocket.last.offers(4);
    expect(table.offers).toEqual([]);
    FakeSocket.last.offers(5);
    expect(table.offers).toHaveLength(1);
  });

  test("a reset replaces the view and says how much was lost", () => {
    const socket = playing();
    const events = heard();
    socket.frame(5, [1], { game: { turn: 1 } });
    socket.says("reset", [BASE, 4, "mark4"], PLAYING, 1);
    expect(table.view).toEqual(PLAYING);
    socket.ends();
    vi.advanceTimersByTime(250);
    FakeSocket.last.welcomes(9, { ...PLAYING, game: { turn: 2 } }, { lost: 0 });
    expect(events.filter(({ kind }) => kind === "reset")).toEqual([{ kind: "reset", lost: 1 }, { kind: "reset", lost: 0 }]);
    expect([table.seq, table.view["game"]]).toEqual([9, { turn: 2 }]);
  });

  test.each<[string, (socket: FakeSocket) => void]>([
    ["a gap", (socket) => socket.frame(6, [], {})],
    ["bytes that are no message", (socket) => socket.babbles(new Uint8Array([0xc1]).buffer)],
    ["text in place of bytes", (socket) => socket.babbles("[]")],
    ["a frame of another shape", (socket) => socket.says("frame", "five", "mark5", [], [], {})],
    ["history of another shape", (socket) => socket.says("history", [["frame", "five", "mark5", [], [], {}]], 4)],
    ["a reset to nowhere", (socket) => socket.says("reset", [1, 2, 3], {}, 0)],
    ["a second welcome", (socket) => socket.says("welcome", { you: "", name: "", level: 1, now: [0, 0], cursor: [BASE, 4, "mark4"] })],
  ])("a fault of the server, %s: the next hello asks for everything", (_name, fault) => {
    const socket = playing();
    void table.send({ command: "leave" });
    fault(socket);
    expect(table.state).toBe("away");
    expect(socket.closedBy).toBe(1000);
    vi.advanceTimersByTime(250);
    const greeting = FakeSocket.last.welcomes(7, PLAYING);
    expect(greeting).not.toHaveProperty("cursor");
    expect(FakeSocket.last.took()).toEqual([["command", 1, "", { command: "leave" }, false]]);
  });

  test("taken over by another window: it stays away until the player wants it back", async () => {
    const socket = playing();
    const pending = table.send({ command: "leave" });
    socket.ends(4409);
    await expect(pending).rejects.toMatchObject({ code: "replaced" });
    vi.advanceTimersByTime(100_000);
    expect(FakeSocket.all).toHaveLength(1);
    table.reconnectNow();
    expect([table.state, table.ending]).toEqual(["connecting", null]);
    FakeSocket.last.welcomes(4);
    expect(table.state).toBe("up");
  });

  test("closed by its owner: nothing comes back, whatever is asked", () => {
    const socket = playing();
    table.close();
    expect([socket.closedBy, table.state, table.ending?.name]).toEqual([1000, "ended", "done"]);
    table.reconnectNow();
    vi.advanceTimersByTime(100_000);
    expect(FakeSocket.all).toHaveLength(1);
  });

  test("closed by its owner before it is open: it is closed once it is open, and greets nobody", () => {
    join();
    const socket = FakeSocket.last;
    table.close();
    expect([socket.closedBy, table.state]).toEqual([null, "ended"]);
    socket.opens();
    expect([socket.closedBy, socket.took()]).toEqual([1000, []]);
  });

  test("closed by its owner before it is open, and it never opens: it is given up", () => {
    join();
    const socket = FakeSocket.last;
    table.close();
    vi.advanceTimersByTime(15_000);
    expect(socket.closedBy).toBe(1000);
    expect(FakeSocket.all).toHaveLength(1);
  });
});
