import { describe, expect, it } from "vitest";

import { parseRoute, roomFromText, roomHash } from "../src/app/routes";

describe("an address", () => {
  it.each([
    ["", { page: "home" }],
    ["#/", { page: "home" }],
    ["#/r/QJXKZB", { page: "room", code: "QJXKZB", key: "", at: null }],
    ["#/r/qjxkzb", { page: "room", code: "QJXKZB", key: "", at: null }],
    ["#/r/QJXKZB/k_e-y", { page: "room", code: "QJXKZB", key: "k_e-y", at: null }],
    ["#/r/QJXKZB/key?at=12", { page: "room", code: "QJXKZB", key: "key", at: 12 }],
    ["#/r/QJXKZB?at=x", { page: "room", code: "QJXKZB", key: "", at: null }],
    ["#/r/QJXKZI", { page: "nowhere" }],
    ["#/r/QJXKZB/a/b", { page: "nowhere" }],
    ["#/l/abc", { page: "link", code: "abc" }],
    ["#/l/", { page: "nowhere" }],
    ["#/record", { page: "record" }],
    ["#/rules/five_towers", { page: "rules", game: "five_towers" }],
    ["#/r/%E0%A4%A", { page: "nowhere" }],
    ["#/elsewhere", { page: "nowhere" }],
  ])("%s leads to a page", (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
  });

  it("of a room is read back as it was written", () => {
    const hash = roomHash("QJXKZB", "a/b c", 7);
    expect(parseRoute(hash)).toEqual({ page: "room", code: "QJXKZB", key: "a/b c", at: 7 });
  });
});

describe("what somebody typed", () => {
  it.each([
    [" qjx kzb ", { code: "QJXKZB", key: "" }],
    ["QJX-KZB", { code: "QJXKZB", key: "" }],
    ["https://towers.example.org/#/r/QJXKZB/key", { code: "QJXKZB", key: "key" }],
    ["#/r/QJXKZB?at=3", { code: "QJXKZB", key: "" }],
    ["QJXKZ", null],
    ["https://towers.example.org/", null],
    ["https://towers.example.org/#/record", null],
  ])("%s is a room, or none", (text, room) => {
    expect(roomFromText(text)).toEqual(room);
  });
});
