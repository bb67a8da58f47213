import type { Catalogue, GameDescription } from "towerhall-client";
import { describe, expect, it } from "vitest";

import { agreed, botAccountsFor, clockChoices, codeWord, defaults, duration, gameWord, listedName, listedNames, paceFor, paceOf, PACES, presetOf } from "../src/lobby/options";
import { newWishes } from "../src/lobby/wishes";

const GAME: GameDescription = {
  name: "mine",
  text: "mine",
  version: 1,
  seats: [2, 5],
  options: {
    bids: { values: ["strict", "table"], default: "strict", text: "mine.bids", texts: ["mine.bids.strict", "mine.bids.table"] },
    auto_pass: { values: [true, false], default: true, text: "mine.auto_pass", texts: ["mine.auto_pass.true", "mine.auto_pass.false"] },
  },
  presets: { standard: { bids: "strict", auto_pass: true }, printed: { bids: "table", auto_pass: true } },
  preset_texts: { standard: "mine.preset.standard", printed: "mine.preset.printed" },
  levels: ["easy"],
  level_texts: { easy: "level.easy" },
  reasons: {},
};

describe("the options of a game", () => {
  it("begin with the defaults of the service", () => {
    expect(defaults(GAME)).toEqual({ bids: "strict", auto_pass: true });
    expect(newWishes(GAME, "usual")).toMatchObject({ game: "mine", seats: 3, turnSeconds: 0, isPrivate: false });
    expect(newWishes({ ...GAME, seats: [4, 6] }, "usual").seats).toBe(4);
    expect(newWishes({ ...GAME, seats: [2, 2] }, "usual").seats).toBe(2);
  });

  it("are a preset, or a mix of one's own", () => {
    expect(presetOf(GAME, { bids: "table", auto_pass: true })).toBe("printed");
    expect(presetOf(GAME, { bids: "table", auto_pass: false })).toBeNull();
  });

  it("are listed in words, or at least by the end of their codes", () => {
    expect(agreed(GAME, { bids: "table", auto_pass: false })).toEqual([
      { name: "bids", value: "table" },
      { name: "auto pass", value: "false" },
    ]);
    expect(codeWord("level.easy")).toBe("Easy");
  });
});

describe("the clocks of a form", () => {
  const catalogue = (turn_seconds: [number, number][]): Catalogue => ({
    games: [],
    level: { oldest: 1, newest: 1 },
    clocks: { turn_seconds, bot_delay_ms: [[0, 10_000]] },
    limits: { message_bytes: 4096, spectators_per_room: 200, name_characters: 24, chat_characters: 300 },
  });

  it("are those that the service takes", () => {
    expect(clockChoices(catalogue([[0, 0], [5, 600], [3600, 1_209_600]]))).toEqual([0, 30, 60, 120, 300, 3600, 86_400, 259_200, 604_800]);
    expect(clockChoices(catalogue([[0, 0], [60, 120]]))).toEqual([0, 60, 120]);
  });

  it.each([
    [0, "No clock"],
    [1, "1 second"],
    [30, "30 seconds"],
    [60, "1 minute"],
    [3600, "1 hour"],
    [172_800, "2 days"],
  ])("say %i seconds as %s", (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});

it("a bot in a list is called by its level, and a person by name", () => {
  expect(listedName("bot hard")).toBe("bot (Hard)");
  expect(listedName("bot harder")).toBe("bot harder");
  expect(listedNames({ names: ["bot hard", "Ada", "Ada"], bot_accounts_at: [2] })).toBe("bot (Hard), Ada, Ada (bot account)");
});

it("a game has its name before anything of it is loaded", () => {
  expect(gameWord("five_towers")).toBe("Five Towers");
  expect(gameWord("nobody_knows_it")).toBe("Nobody knows it");
});

describe("the pace of bots", () => {
  it("is one of three, also in rooms of programs", () => {
    for (const pace of ["quick", "usual", "relaxed"] as const) expect(paceOf(PACES[pace].bot_delay_ms)).toBe(pace);
    expect([0, 700, 10_000].map(paceOf)).toEqual(["quick", "usual", "relaxed"]);
  });

  it("has a beat where the service knows one", () => {
    const clocks = { turn_seconds: [], bot_delay_ms: [] };
    const catalogue = { games: [], level: { oldest: 1, newest: 4 }, clocks, limits: {} } as unknown as Catalogue;
    expect(paceFor("relaxed", catalogue)).toEqual({ bot_delay_ms: 1800 });
    const newer = { ...catalogue, clocks: { ...clocks, beat_ms: [] } } as unknown as Catalogue;
    expect(botAccountsFor(true, { ...catalogue, level: { oldest: 1, newest: 5 } })).toEqual({});
    expect(botAccountsFor(true, { ...catalogue, level: { oldest: 1, newest: 6 } })).toEqual({ bot_accounts: true });
    expect(paceFor("relaxed", newer)).toEqual({ bot_delay_ms: 1800, beat_ms: 2500 });
  });
});
