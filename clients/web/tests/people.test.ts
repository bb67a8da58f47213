/** The pure parts of the pages about people: charts, filters, relations. */
import type { PastGame, People } from "towerhall-client";
import { describe, expect, it } from "vitest";

import { bars, mean, scale, signed } from "../src/people/chart";
import { ALL, byPlace, gamesOf, joined, seatsOf, totals, wishOf, withGame } from "../src/people/history";
import { colourOf, pageOf, relationTo, ROWS } from "../src/people/relation";

const STATISTICS = [
  { game: "five_towers", seats: 2, games: 5, places: [3, 2], best: 31, sum: 100 },
  { game: "five_towers", seats: 4, games: 2, places: [0, 1, 0, 1], best: 20, sum: 30 },
  { game: "nikitin_towers", seats: 3, games: 1, places: [1, 0, 0], best: -2, sum: -2 },
];

function game(number: number, places: number[] = [2, 1]): PastGame {
  return { number, code: "QJXKZB", game: "five_towers", version: 1, ended: 1, replay: "", seats: places.map((place) => ({ place, score: 9 - place })) };
}

describe("bars of places", () => {
  it("fill the width, stand on the lower edge, and the highest one fills the height", () => {
    const [first, second, third] = bars([4, 0, 2], 240, 70, 12);
    expect(first).toEqual({ place: 1, count: 4, x: 8, y: 0, width: 56, height: 70 });
    expect(second).toMatchObject({ x: 92, y: 70, height: 0 });
    expect(third!.x + third!.width).toBe(240 - first!.x);
    const five = bars([1, 1, 1, 1, 1], 240, 70, 10);
    expect([five[0]!.x, five[4]!.x + five[4]!.width]).toEqual([0, 240]);
    expect(third!.y + third!.height).toBe(70);
    expect(third!.height).toBe(35);
  });

  it("show one game beside a thousand, and none at all", () => {
    expect(bars([1000, 1], 100, 70, 10)[1]!.height).toBeGreaterThanOrEqual(3);
    expect(bars([0, 0], 100, 70, 10).map(({ height }) => height)).toEqual([0, 0]);
  });
});

describe("the line of scores", () => {
  it("begins at 0, or at the least score below it", () => {
    expect(scale([0, 20, 40], 200)).toEqual([0, 100, 200]);
    expect(scale([0, -2, -2], 200)).toEqual([200, 0, 0]);
    expect(scale([0, 0, 0], 200)).toEqual([0, 0, 0]);
  });

  it("has a mean also without games", () => {
    expect(mean(STATISTICS[0]!)).toBe(20);
    expect(mean({ sum: 0, games: 0 })).toBe(0);
  });

  it("tells a change with its sign", () => {
    expect([12, -7, 0].map(signed)).toEqual(["+12", "−7", "±0"]);
  });
});

describe("filters of a history", () => {
  it("offer what occurs", () => {
    expect(gamesOf(STATISTICS)).toEqual(["five_towers", "nikitin_towers"]);
    expect(seatsOf(STATISTICS, "")).toEqual([2, 3, 4]);
    expect(seatsOf(STATISTICS, "five_towers")).toEqual([2, 4]);
  });

  it("drop a number of seats that another game never had", () => {
    expect(withGame({ game: "five_towers", seats: 4 }, "nikitin_towers", STATISTICS)).toEqual({ game: "nikitin_towers", seats: 0 });
    expect(withGame({ game: "", seats: 4 }, "five_towers", STATISTICS)).toEqual({ game: "five_towers", seats: 4 });
  });

  it("ask for no more than is wanted", () => {
    expect(wishOf(ALL)).toEqual({});
    expect(wishOf({ game: "five_towers", seats: 2 }, 7)).toEqual({ game: "five_towers", seats: 2, before: 7 });
  });

  it("join pages without doubles, and sort seats by place", () => {
    expect(joined([game(3), game(2)], [game(2), game(1)]).map(({ number }) => number)).toEqual([3, 2, 1]);
    expect(byPlace(game(1, [3, 1, 2])).map(({ place }) => place)).toEqual([1, 2, 3]);
  });

  it("count games and wins", () => {
    expect(totals(STATISTICS)).toEqual({ games: 8, wins: 4 });
  });
});

describe("another person", () => {
  const lists: People = { friends: [{ handle: "f" }], asked: [{ handle: "a" }], asking: [{ handle: "q" }], blocked: [{ handle: "b" }], met: [{ handle: "m" }] };

  it("is one thing to this one", () => {
    expect(["f", "a", "q", "b", "m"].map((handle) => relationTo(lists, handle))).toEqual(["friend", "asked", "asking", "blocked", "none"]);
    expect(relationTo(null, "f")).toBe("none");
  });

  it("stands on one page of a leaderboard", () => {
    expect([0, 1, ROWS, ROWS + 1, 45].map(pageOf)).toEqual([1, 1, 1, ROWS + 1, 41]);
  });

  it("has the same colour on each visit", () => {
    expect(colourOf("AbCdEfGhIjK")).toBe(colourOf("AbCdEfGhIjK"));
    expect(new Set([..."abcdefghij"].map(colourOf)).size).toBe(5);
    expect(colourOf("")).toBe(0);
  });
});
