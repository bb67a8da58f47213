import { describe, expect, it } from "vitest";

import { keysIn, withKeys } from "../src/app/carried";
import { hashOfPath, parseRoute, roomFromText, roomHash, roomLink } from "../src/app/routes";

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
    ["#/record", { page: "record", code: null }],
    ["#/record/QJXKZB", { page: "record", code: "QJXKZB" }],
    ["#/record/abc", { page: "nowhere" }],
    ["#/playground", { page: "playground" }],
    ["#/live", { page: "live" }],
    ["#/live/x", { page: "nowhere" }],
    ["#/rules/five_towers", { page: "rules", game: "five_towers" }],
    ["#/me", { page: "me" }],
    ["#/me/x", { page: "nowhere" }],
    ["#/friends", { page: "friends" }],
    ["#/people/AbC_-123456", { page: "person", handle: "AbC_-123456" }],
    ["#/people/short", { page: "nowhere" }],
    ["#/leaderboards", { page: "leaderboard", game: "" }],
    ["#/leaderboards/five_towers", { page: "leaderboard", game: "five_towers" }],
    ["#/leaderboards/five_towers/x", { page: "nowhere" }],
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

describe("typed text", () => {
  it.each([
    [" qjx kzb ", { code: "QJXKZB", key: "" }],
    ["QJX-KZB", { code: "QJXKZB", key: "" }],
    ["https://towers.example.org/#/r/QJXKZB/key", { code: "QJXKZB", key: "key" }],
    ["#/r/QJXKZB?at=3", { code: "QJXKZB", key: "" }],
    ["https://towers.example.org/r/QJXKZB?at=3", { code: "QJXKZB", key: "" }],
    ["https://towers.example.org/r/QJXKZ", null],
    ["QJXKZ", null],
    ["https://towers.example.org/", null],
    ["https://towers.example.org/#/record", null],
  ])("%s is a room, or none", (text, room) => {
    expect(roomFromText(text)).toEqual(room);
  });
});

describe("a link to oneself", () => {
  const LINK = "https://play.example/#/l/abc";

  it("carries keys of private rooms in its fragment", () => {
    const link = withKeys(LINK, [["QJXKZB", "k_e-y"], ["ABCDEF", "a/b c"]]);
    expect(link).toBe("https://play.example/#/l/abc?keys=QJXKZB.k_e-y,ABCDEF.a%2Fb%20c");
    expect(keysIn(new URL(link).hash)).toEqual([["QJXKZB", "k_e-y"], ["ABCDEF", "a/b c"]]);
    expect(parseRoute(new URL(link).hash)).toEqual({ page: "link", code: "abc" });
    expect(withKeys(LINK, [])).toBe(LINK);
  });

  it("carries as many as a QR code holds, the first ones first", () => {
    const many = [..."ABCDEFGHJKLMNPQRSTUV"].map((letter) => [`QJXKZ${letter}`, "k".repeat(16)] as const);
    const link = withKeys(LINK, many);
    expect(link.length).toBeLessThanOrEqual(213);
    expect(keysIn(link)).toEqual(many.slice(0, keysIn(link).length));
    expect(keysIn(link).length).toBeGreaterThan(5);
  });

  it.each(["#/l/abc", "#/l/abc?keys=", "#/l/abc?keys=QJXKZB,QJXKZB.,.key,nonsense.key"])("%s has none", (hash) => {
    expect(keysIn(hash)).toEqual([]);
  });
});

describe("a link to a room", () => {
  it("is a path that leads back to the same page, unless it holds a key", () => {
    expect(roomLink("QJXKZB", "", 3)).toBe("/r/QJXKZB?at=3");
    expect(roomLink("QJXKZB", "key")).toBe("/#/r/QJXKZB/key");
    expect(hashOfPath("/r/QJXKZB", "?at=3")).toBe(roomHash("QJXKZB", "", 3));
  });

  it.each([["/", ""], ["/foo", null], ["/r/QJXKZI", null], ["/record", null], ["/playground", "#/playground"]])("%s has the fragment %s", (path, hash) => {
    expect(hashOfPath(path, "")).toBe(hash);
  });
});
