import { readFileSync } from "node:fs";

import type { Document, Fact } from "towerhall-client";
import { describe, expect, it } from "vitest";

import type { GameUi } from "../src/games";
import { closedText } from "../src/room/closed";
import { castOf, sayRoom, type Cast } from "../src/room/say";
import { headline, tell } from "../src/room/tell";
import { clockDigits, clockText } from "../src/room/time";
import { freeSeats, namesOf, places, roomOf, turnOf, unready } from "../src/room/view";
import en from "../src/words/en";
import { word } from "../src/words/index.svelte";

const VIEW: Document = {
  room: {
    code: "QJXKZB",
    game: "five_towers",
    uid: "u",
    status: "waiting",
    size: 4,
    host: 0,
    reserved: [3],
    seats: { "0": { name: "Ada" }, "1": { name: "bot hard", bot: "hard", ready: true }, "2": { name: "Ben" } },
  },
};
const room = roomOf(VIEW)!;
const WATCHER: Cast = { names: [], people: new Map(), seat: null, you: "" };

describe("a room in a view", () => {
  it("is missing before the first view", () => {
    expect(roomOf({})).toBeNull();
    expect(namesOf(null)).toEqual([]);
  });

  it("has a place for every seat, taken or not", () => {
    expect(places(room).map(({ holder }) => holder?.name ?? null)).toEqual(["Ada", "bot hard", "Ben", null]);
    expect(places(room).map(({ isHost }) => isHost)).toEqual([true, false, false, false]);
    expect(places(room)[3]!.isReserved).toBe(true);
    expect(freeSeats(room)).toBe(1);
  });

  it("calls people by their names, and bots by their seats", () => {
    expect(namesOf(room)).toEqual(["Ada", "Bot 2", "Ben", ""]);
  });

  it("waits for all people but the host, and in a quick room for the host as well", () => {
    expect(unready(room)).toEqual(["Ben"]);
    expect(unready({ ...room, quick: true })).toEqual(["Ada", "Ben"]);
  });

  it("tells whose turn it is only while the game runs", () => {
    const playing = { ...VIEW, room: { ...(VIEW["room"] as Document), status: "playing" }, game: { turn: 2 } };
    expect(turnOf(playing)).toBe(2);
    expect(turnOf({ ...playing, room: VIEW["room"]! })).toBeNull();
    expect(turnOf({ ...playing, game: {} })).toBeNull();
    // One seat may decide in the turn of another.
    expect(turnOf({ ...playing, game: { turn: 2, to_act: 0 } })).toBe(0);
  });
});

describe("the log of a room", () => {
  const cast: Cast = { ...WATCHER, names: namesOf(room), people: new Map([["cGVyc29uMDE", "Eve"]]) };
  const FACTS: [Fact, string][] = [
    [["room_created", "five_towers", 1, 3, "u", "c"], "The room is open."],
    [["person_sat", 0, "Eve", ""], "Eve sits down."],
    [["person_renamed", 0, "Adele"], "The player in seat 1 is now called Adele."],
    [["bot_account_marked", 2], "Ben is a bot account."],
    [["person_invited", "cGVyc29uMDE"], "The host has invited Eve."],
    [["bot_sat", 1, "hard"], "A bot (hard) takes seat 2."],
    [["seat_left", 2], "Ben stands up."],
    [["seat_kicked", 2], "Ben was removed from the room."],
    [["person_admitted", "cGVyc29uMDE"], "Eve may come back."],
    [["person_muted", "cGVyc29uMDE", true], "The host has muted Eve."],
    [["person_muted", "cGVyc29uMDE", false], "The host has unmuted Eve."],
    [["host_passed", 2], "Ben is the host now."],
    [["options_changed", {}, {}], "The options have changed. Please confirm again that you are ready."],
    [["seat_ready", 0, true, ""], "Ada is ready."],
    [["seat_ready", 0, false, ""], "Ada is not ready."],
    [["sealed", 1, []], "Seats and secret numbers are set."],
    [["deal_cancelled", 1, [0, 2]], "The start was cancelled: Ada, Ben did not answer in time."],
    [["timed_out", 0], "Ada ran out of time."],
    [["bot_stood_in", 0, "easy"], "A bot (easy) plays for Ada."],
    [["seat_taken_back", 0], "Ada is back."],
    [["seat_resigned", 0, "easy"], "Ada resigns."],
    [["end_wanted", 0, true], "Ada would like to end the game."],
    [["end_wanted", 0, false], "Ada would rather keep playing."],
    [["game_over", [], []], "The game is over."],
    [["room_closed", "agreed"], "The room is closed."],
    [["rematch_made", "ABCDEF"], "A new table is ready: room ABCDEF."],
  ];

  it.each(FACTS)("words %j", (fact, text) => {
    const said = sayRoom(fact, cast)!;
    expect(en).toHaveProperty([said.key]);
    expect(word(said.key, said.params)).toBe(text);
  });

  it.each<[Fact]>([[["person_muted", "bm9ib2R5IGg", true]], [["room_closed", "resigned"]], [["nonce_opened", 0, "n"]], [["dealt", 1]], [["secret_revealed", "s"]], [["seat_woke", 0]]])(
    "passes over %j",
    (fact) => {
      expect(sayRoom(fact, cast)).toBeNull();
    },
  );

  it("speaks to the viewer, not of them", () => {
    const mine: Cast = { ...cast, seat: 0, you: "cGVyc29uMDE" };
    const said = FACTS.filter(([[name, first]]) => !["person_sat", "bot_sat"].includes(name) && (first === 0 || first === mine.you)).map(([fact]) => sayRoom(fact, mine)!);
    const texts = said.map(({ key, params }) => word(key, params));
    expect(texts).toHaveLength(13);
    for (const text of texts) expect(text).toMatch(/\b(You|you|Your|your)\b/);
    expect(sayRoom(["person_sat", 0, "Ada", ""], mine)!.key).toBe("log.person_sat.you");
    // Another person may have had the seat.
    expect(sayRoom(["person_sat", 0, "Eve", ""], mine)!.key).toBe("log.person_sat");
    expect(sayRoom(["deal_cancelled", 1, [0, 2]], mine)!.params).toEqual({ names: "You, Ben" });
  });

  it("finds the viewer in the room before or after a change", () => {
    const seats = { "2": { name: "Ben", id: "b" } };
    expect(castOf([], "b", { ...room, seats }).seat).toBe(2);
    expect(castOf([], "b", room, { ...room, seats }).seat).toBe(2);
    expect(castOf([], "", { ...room, seats }).seat).toBeNull();
  });

  it("knows every fact of the protocol, and leaves all others to the game", () => {
    const spec = readFileSync(new URL("../../../protocol/SPEC.md", import.meta.url), "utf8");
    const clause = spec.slice(spec.indexOf("### P-32 "), spec.indexOf("### P-33 "));
    const facts = [...clause.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!);
    expect(facts).toContain("rematch_made");
    for (const fact of facts) expect(sayRoom([fact, 0, []], cast), fact).not.toBeUndefined();
    expect(sayRoom(["die_rolled", 1], cast)).toBeUndefined();
  });
});

describe("a clock", () => {
  it.each([
    [0, "0:00"],
    [7, "0:07"],
    [90, "1:30"],
    [7500, "2:05:00"],
  ])("shows %i seconds as %s", (seconds, text) => {
    expect(clockDigits(seconds)).toBe(text);
  });

  it("rounds up, never goes below zero, and counts long times in days", () => {
    expect(clockText(200)).toBe("0:01");
    expect(clockText(-500)).toBe("0:00");
    expect(clockText(3 * 86_400_000)).toBe("3 days");
  });
});

it("tells levels of bots in words", () => {
  expect(tell(["bot_sat", 1, "hard"], null, {}, WATCHER)).toBe("A bot (Hard) takes seat 2.");
  expect(tell(["dealt", 1], null, {}, WATCHER)).toBeNull();
});

describe("facts of a game", () => {
  const fact: Fact = ["die_rolled", 1, 5];
  const ui = { say: () => ({ key: "level.easy", params: {} }) } as unknown as GameUi;

  it("are told by the game, or by their names if this page has no folder for it", () => {
    expect(tell(fact, ui, {}, WATCHER)).toBe("Easy");
    expect(tell(fact, null, {}, WATCHER)).toBe("Die rolled: 1, 5");
  });

  it("are left out until it is known which", () => {
    expect(tell(fact, undefined, {}, WATCHER)).toBeNull();
    expect(tell(["seat_left", 0], undefined, {}, { ...WATCHER, names: ["Ada"] })).toBe("Ada stands up.");
  });
});

it("tells one fact of a move to people who hear the game: the weightiest", () => {
  const ui = { headlines: ["fell", "placed"], say: ([name]: Fact) => ({ key: "home.guest", params: { number: name } }) } as unknown as GameUi;
  expect(headline([["rolled"], ["placed"], ["fell"]], ui, {}, WATCHER)).toBe("Guest fell");
  expect(headline([["rolled"], ["turned"]], ui, {}, WATCHER)).toBe("Guest rolled");
  expect(headline([["dealt", 1]], ui, {}, WATCHER)).toBeNull();
});

it("says why a room was closed without codes", () => {
  expect(closedText("agreed")).toBe(en["over.agreed"]);
  expect(closedText("resigned")).toBe(en["over.resigned"]);
  expect(closedText("closed_by_operator")).toBe("The operator of this service closed the room. There is no result.");
  expect(closedText("server_moves")).toBe("The operator of this service closed the room: server moves. There is no result.");
});
