import { describe, expect, it } from "vitest";

import { hexDump } from "../src/playground/hex";
import { after, NOWHERE, type Place } from "../src/playground/place";
import { pretty } from "../src/playground/pretty";
import { LANGUAGES, program } from "../src/playground/programs";

const VIEW = { room: { status: "playing" }, game: { turn: 1 } };
const HERE: Place = { cursor: ["base", 4, "mark4"], view: VIEW, offers: [{ command: "pass" }], tag: "mark4", seat: 1 };

describe("the place of a client", () => {
  it("is what a welcome says, with the old view if it has none", () => {
    const whole = after(NOWHERE, ["welcome", { cursor: ["base", 4, "mark4"], view: VIEW, seat: 1 }]);
    expect(whole).toEqual({ ...HERE, offers: [], tag: "" });
    expect(after(HERE, ["welcome", { cursor: ["base", 4, "mark4"] }])).toEqual({ ...HERE, offers: [], tag: "", seat: null });
  });

  it("moves with a frame; offers are void if the game has changed", () => {
    const talk = after(HERE, ["frame", 5, "mark5", [], [], { room: { status: "over" } }]);
    expect(talk).toEqual({ ...HERE, cursor: ["base", 5, "mark5"], view: { ...VIEW, room: { status: "over" } } });
    const moved = after(HERE, ["frame", 5, "mark5", [], [], { game: { turn: 2 } }]);
    expect([moved.offers, moved.tag, moved.view["game"]]).toEqual([[], "", { turn: 2 }]);
  });

  it("goes back with a reset, and takes offers and seats as they come", () => {
    const back = after(HERE, ["reset", ["base", 2, "mark2"], { room: {} }, 2]);
    expect(back).toEqual({ cursor: ["base", 2, "mark2"], view: { room: {} }, offers: [], tag: "", seat: 1 });
    expect(after(back, ["offers", 2, "mark2", [{ command: "bid" }]])).toMatchObject({ tag: "mark2", offers: [{ command: "bid" }] });
    expect(after(HERE, ["seat", -1])).toMatchObject({ seat: null, offers: [] });
    expect(after(HERE, ["pong", 4, [1, 2]])).toBe(HERE);
  });
});

it("bytes are shown with their places and letters", () => {
  expect(hexDump(new Uint8Array([...new TextEncoder().encode("frame of 16 byte"), 0, 0x7f]))).toBe(
    ["0000  66 72 61 6d 65 20 6f 66 20 31 36 20 62 79 74 65  frame of 16 byte", `0010  00 7f${" ".repeat(44)}··`].join("\n"),
  );
  expect(hexDump(new Uint8Array())).toBe("");
});

it("short parts of a document stay on one line, and it is still JSON", () => {
  const long = { a: [1, [2, null], true], b: "x".repeat(60), c: {} };
  expect(pretty(long)).toBe(`{\n  "a": [1, [2, null], true],\n  "b": "${long.b}",\n  "c": {}\n}`);
  expect(JSON.parse(pretty({ deep: [long, long] }))).toEqual({ deep: [long, long] });
});

it.each(LANGUAGES)("a program in %s holds place, token and message", (language) => {
  const step = { url: "ws://localhost/v1/rooms/QJXKZB", token: "t0k-en", level: 6, cursor: ["base", 4, "mark4"] as [string, number, string], message: ["chat", 'a "b" \\ c'] };
  const text = program(language, step);
  for (const part of [step.url, "t0k-en", "mark4"]) expect(text).toContain(part);
  expect(text.replaceAll("\\", "")).toContain('a "b"  c');
  expect(program(language, { ...step, cursor: null })).not.toContain("mark4");
});
