import type { Document, Fact } from "towerhall-client";
import { describe, expect, it } from "vitest";

import { closedText } from "../src/room/closed";
import { sayRoom } from "../src/room/say";
import { tell } from "../src/room/tell";
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

  it("waits for everybody but the host, and in a quick room for the host as well", () => {
    expect(unready(room)).toEqual(["Ben"]);
    expect(unready({ ...room, quick: true })).toEqual(["Ada", "Ben"]);
  });

  it("tells whose turn it is only while the game runs", () => {
    const playing = { ...VIEW, room: { ...(VIEW["room"] as Document), status: "playing" }, game: { turn: 2 } };
    expect(turnOf(playing)).toBe(2);
    expect(turnOf({ ...playing, room: VIEW["room"]! })).toBeNull();
    expect(turnOf({ ...playing, game: {} })).toBeNull();
  });
});

describe("the log of a room", () => {
  const FACTS: [Fact, string][] = [
    [["room_created", "five_towers", 1, 3, "u", "c"], "The room is open."],
    [["person_sat", 0, "Eve", ""], "Eve sits down."],
    [["bot_sat", 1, "hard"], "A bot (hard) takes seat 2."],
    [["seat_left", 2], "Ben stands up."],
    [["seat_kicked", 2], "Ben was sent away."],
    [["host_passed", 2], "Ben is the host now."],
    [["options_changed", {}, {}], "The options were changed. Please say again that you are ready."],
    [["seat_ready", 0, true, ""], "Ada is ready."],
    [["seat_ready", 0, false, ""], "Ada is not ready."],
    [["sealed", 1, []], "The shuffle is sealed."],
    [["deal_cancelled", 1, [0, 2]], "The shuffle was called off: Ada, Ben did not answer in time."],
    [["timed_out", 0], "The time of Ada is up."],
    [["bot_stood_in", 0, "easy"], "A bot (easy) plays for Ada."],
    [["seat_taken_back", 0], "Ada is back."],
    [["seat_resigned", 0, "easy"], "Ada gives up."],
    [["end_wanted", 0, true], "Ada would like to end the game."],
    [["end_wanted", 0, false], "Ada would rather go on."],
    [["game_over", [], []], "The game is over."],
    [["room_closed", "agreed"], "The room is closed."],
    [["rematch_made", "ABCDEF"], "A new table is set: room ABCDEF."],
  ];

  it.each(FACTS)("words %j", (fact, text) => {
    const said = sayRoom(fact, namesOf(room))!;
    expect(en).toHaveProperty([said.key]);
    expect(word(said.key, said.params)).toBe(text);
  });

  it.each<[Fact]>([[["nonce_opened", 0, "n"]], [["dealt", 1]], [["secret_revealed", "s"]], [["seat_woke", 0]], [["of_the_future", 1]]])(
    "passes over %j",
    (fact) => {
      expect(sayRoom(fact, [])).toBeNull();
    },
  );
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
  expect(tell(["bot_sat", 1, "hard"], null, {}, [])).toBe("A bot (Hard) takes seat 2.");
  expect(tell(["dealt", 1], null, {}, [])).toBeNull();
});

it("says why a room was closed without codes", () => {
  expect(closedText("agreed")).toBe(en["over.agreed"]);
  expect(closedText("closed_by_operator")).toBe("Whoever runs this service closed the room. There is no result.");
  expect(closedText("server_moves")).toBe("Whoever runs this service closed the room: server moves. There is no result.");
});
