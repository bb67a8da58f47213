/** When a line is tried again, how a dead one is found out, and what `go` leads to: all by a clock of the test's own. */

import { describe, expect, test, vi } from "vitest";
import { faked, FakeSocket, PLAYING } from "./fake_socket";
import { join, playing, table } from "./joined";

/** How long it takes until there is another socket. */
function waited(): number {
  const count = FakeSocket.all.length;
  const from = Date.now();
  vi.advanceTimersToNextTimer();
  expect(FakeSocket.all.length).toBe(count + 1);
  return Date.now() - from;
}

describe("coming back", () => {
  test("waits double up to 15 s, and a connection that lasted begins anew", () => {
    join();
    const waits = Array.from({ length: 9 }, () => {
      FakeSocket.last.ends();
      expect(table.state).toBe("away");
      expect(table.retryAt).not.toBeNull();
      return waited();
    });
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000]);
    FakeSocket.last.welcomes(4, PLAYING);
    expect(table.retryAt).toBeNull();
    vi.advanceTimersByTime(9_000);
    FakeSocket.last.ends();
    expect(waited(), "it was too short to count").toBe(15_000);
    FakeSocket.last.welcomes(4);
    vi.advanceTimersByTime(10_000);
    FakeSocket.last.ends();
    expect(waited()).toBe(250);
  });

  test("waits are drawn from the whole range below", () => {
    join(faked(0.5));
    FakeSocket.last.ends();
    expect(table.retryAt).toBe(Date.now() + 125);
  });

  test.each([1001, 1005, 1006, 1011, 1012, 4408, 4413, 4503, 4999])("after %i it comes back by itself", (code) => {
    playing().ends(code);
    expect(table.state).toBe("away");
    expect(waited()).toBe(250);
  });

  test.each([1013, 4429])("after %i not before the server wants it", (code) => {
    const socket = playing();
    socket.says("error", "busy", { retry_ms: 3000 }, "too many");
    socket.ends(code);
    expect(table.trouble).toMatchObject({ code, params: { retry_ms: 3000 }, hint: "too many" });
    expect(waited()).toBe(3250);
    FakeSocket.last.welcomes(4);
    expect(table.trouble).toBeNull();
  });

  test("an error that was long ago has nothing to do with it", () => {
    const socket = playing();
    socket.says("error", "too_many", { retry_ms: 3000 }, "too many");
    socket.says("presence", [0], 1);
    socket.ends();
    expect(waited()).toBe(250);
  });

  test("a server that says nothing is given up after 15 s", () => {
    join();
    FakeSocket.last.opens();
    vi.advanceTimersByTime(14_999);
    expect(table.state).toBe("connecting");
    vi.advanceTimersByTime(1);
    expect([table.state, FakeSocket.last.closedBy]).toEqual(["away", 1000]);
  });

  test("what a socket says after it was given up is not heard", () => {
    const old = playing();
    old.ends();
    vi.advanceTimersByTime(250);
    FakeSocket.last.welcomes(4);
    old.frame(5, [], { game: { turn: 9 } });
    old.ends(4409);
    expect([table.state, table.seq]).toEqual(["up", 4]);
  });
});

describe("a dead socket", () => {
  test("is asked every 15 s and given up after 10 s of silence", () => {
    const socket = playing();
    vi.advanceTimersByTime(15_000);
    expect(socket.took()).toEqual([["ping", 4]]);
    socket.says("pong", 4, [20_000, 20_000]);
    vi.advanceTimersByTime(25_000);
    expect(socket.took()).toEqual([["ping", 4]]);
    vi.advanceTimersByTime(9_999);
    expect(table.state).toBe("up");
    vi.advanceTimersByTime(1);
    expect(table.state).toBe("away");
  });

  test("is found out at once when a device wakes up", () => {
    const socket = playing();
    table.reconnectNow();
    expect(socket.took()).toEqual([["ping", 4]]);
    vi.advanceTimersByTime(3_000);
    expect(table.state).toBe("away");
    table.reconnectNow();
    expect(FakeSocket.all).toHaveLength(2);
    table.reconnectNow();
    expect(FakeSocket.all, "that attempt is young").toHaveLength(2);
    vi.advanceTimersByTime(3_001);
    table.reconnectNow();
    expect(FakeSocket.all).toHaveLength(3);
    FakeSocket.last.welcomes(4);
    expect(table.state).toBe("up");
  });

  test("a live one is left alone", () => {
    const socket = playing();
    table.reconnectNow();
    socket.says("pong", 4, [9000, 5000]);
    vi.advanceTimersByTime(5_000);
    expect([table.state, FakeSocket.all.length]).toEqual(["up", 1]);
  });
});

describe("go", () => {
  test("leads to another connection at a moment of the client's own", () => {
    const socket = playing(faked(0.5));
    socket.says("go", 4000);
    socket.says("go", 100);
    vi.advanceTimersByTime(1_999);
    expect([table.state, FakeSocket.all.length]).toEqual(["up", 1]);
    vi.advanceTimersByTime(1);
    expect(socket.closedBy).toBe(1000);
    expect([table.state, FakeSocket.all.length]).toEqual(["away", 2]);
    expect(FakeSocket.last.welcomes(4)["cursor"]).toEqual([expect.any(String), 4, "mark4"]);
    expect(table.state).toBe("up");
  });

  test("that moment is kept when the server closes before it", () => {
    const socket = playing(faked(0.5));
    socket.says("go", 4000);
    vi.advanceTimersByTime(500);
    socket.ends(1012);
    expect(waited()).toBe(1_500);
  });
});

describe("the clock of a game", () => {
  test("goes on by the client's own clock, stands still while paused, and is set right by pongs", () => {
    join();
    expect(table.timeLeft()).toBeNull();
    FakeSocket.last.welcomes(4, { ...PLAYING, clock: { due: 35_000 } });
    expect(table.timeLeft()).toBe(30_000);
    vi.advanceTimersByTime(2_000);
    expect(table.timeLeft()).toBe(28_000);
    FakeSocket.last.says("paused", true);
    vi.advanceTimersByTime(5_000);
    expect([table.paused, table.timeLeft()]).toEqual([true, 28_000]);
    FakeSocket.last.took();
    FakeSocket.last.says("paused", false);
    expect(FakeSocket.last.took()).toEqual([["ping", 4]]);
    vi.advanceTimersByTime(1_000);
    expect(table.timeLeft()).toBe(27_000);
    FakeSocket.last.says("pong", 4, [0, 9_000]);
    expect(table.timeLeft()).toBe(26_000);
    FakeSocket.last.frame(5, [], { clock: { due: 9_500 } });
    vi.advanceTimersByTime(1_000);
    expect(table.timeLeft()).toBe(0);
    FakeSocket.last.frame(6, [], { clock: null });
    expect(table.timeLeft()).toBeNull();
  });
});
