/** The client core by itself, where the vectors do not look. */

import { expect, test } from "vitest";
import { Replay } from "../src";
import { BASE, PLAYING } from "./fake_socket";

function welcomed(): Replay {
  const replay = new Replay({ randomBytes: (size) => new Uint8Array(size), origin: "AAAAAAAAAAA" });
  replay.hello("token");
  replay.receive(["welcome", { you: "p_1", name: "Ada", level: 1, now: [9, 5], cursor: [BASE, 4, "mark4"], view: PLAYING, seat: 0 }]);
  return replay;
}

test("an origin is eight random bytes", () => {
  expect(new Replay({ randomBytes: (size) => new Uint8Array(size).fill(255) }).origin).toBe("__________8");
});

test("a client that starts again with an old origin goes on with its numbers", () => {
  const replay = welcomed();
  replay.receive(["frame", 5, "mark5", [0, "AAAAAAAAAAA", 7], [], {}]);
  expect(replay.command({ command: "leave" })[1]).toBe(8);
});

test("the ninth command has to wait", () => {
  const replay = welcomed();
  for (let n = 1; n <= 8; n += 1) expect(replay.command({ command: "leave" })[1]).toBe(n);
  expect(replay.isFull).toBe(true);
  expect(() => replay.command({ command: "leave" })).toThrow(RangeError);
  replay.receive(["duplicate", 3, 5]);
  expect(replay.unanswered).toEqual([1, 2, 4, 5, 6, 7, 8]);
});

test("after a fault nothing is heard until the next hello", () => {
  const replay = welcomed();
  expect(replay.receive(["frame", 9, "mark9", [], [], {}])).toEqual([{ kind: "faulted", reason: "frame 9 came after 4" }]);
  expect(replay.receive(["seat", 3])).toEqual([]);
  expect([replay.seat, replay.cursor, replay.view]).toEqual([0, null, PLAYING]);
  expect(replay.hello("token", "key")[1]).toEqual({ token: "token", level: 6, origin: "AAAAAAAAAAA", key: "key" });
});
