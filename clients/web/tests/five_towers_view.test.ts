import { describe, expect, test } from "vitest";

import { checkDraws, deckOf } from "../src/games/five_towers/draws";
import { callsOf, mayBid } from "../src/games/five_towers/play/calls";
import { cardOf, markOf } from "../src/games/five_towers/play/cards";
import { callingOrder, count, leading, PASS, readGame } from "../src/games/five_towers/play/game";
import { hintOf } from "../src/games/five_towers/play/hint";
import { stepOf, towerHeight } from "../src/games/five_towers/play/layout";
import { movesOf } from "../src/games/five_towers/play/moves";
import { rankingOf } from "../src/games/five_towers/play/ranking";
import { nearest } from "../src/games/five_towers/play/rove";
import { markOfSeat } from "../src/games/five_towers/play/seats";
import { played } from "./five_towers_games";

const two = played("two");
const five = played("five");

test("cards are read from their ids, copies too", () => {
  expect(cardOf("sand:12+")).toEqual({ id: "sand:12+", kind: "sand", value: 12 });
  expect([markOf(8, "base"), markOf(8, "cap"), markOf(9, "base"), markOf(7, "base")]).toEqual(["takes_all", "goes_everywhere", "goes_anywhere", null]);
});

describe("the view", () => {
  test("has no game before the deal", () => {
    expect(readGame(two.timeline.at(2))).toBeNull();
  });

  test("accounts for every card at every moment", () => {
    for (let seq = 1; seq <= five.timeline.last; seq += 1) {
      const game = readGame(five.timeline.at(seq));
      if (!game) continue;
      const held = game.players.map(({ towers, demolished }) => count(towers) + count(demolished));
      expect(held.reduce((sum, each) => sum + each, 0) + count(game.discard) + game.display.length + game.pile, `seq ${seq}`).toBe(110);
    }
  });

  test("says who calls in which order, and who leads", () => {
    const game = readGame(five.timeline.at(five.offers[0]![0]))!;
    expect(callingOrder(game)[0]).toBe(game.start);
    expect([...callingOrder(game)].sort()).toEqual([0, 1, 2, 3, 4]);
    expect(leading({ ...game, calls: new Map([[1, 0], [2, -1], [3, 2]]) })).toEqual({ seat: 3, number: 2 });
    expect(leading({ ...game, calls: new Map([[2, -1]]) })).toBeNull();
  });

  test("ends with the points taken apart, best first", () => {
    const rows = rankingOf(five.timeline.at(five.timeline.last));
    expect(rows.map((row) => row.score.total)).toEqual([34, 33, 31, 27, 21]);
    expect(rows.map((row) => row.place)).toEqual([1, 2, 3, 4, 5]);
    for (const { score } of rows) expect(score.cards + score.spires + score.main + score.penalty).toBe(score.total);
    expect(rankingOf(five.timeline.at(30))).toEqual([]);
  });
});

test("calls come from the offers", () => {
  expect(callsOf([])).toBeNull();
  const calls = callsOf([{ command: "bid", ranges: { number: [2, 4] } }, { command: "pass" }]);
  expect(calls).toEqual({ bid: [2, 4], pass: true });
  expect([1, 2, 4, 5].map((number) => mayBid(calls, number))).toEqual([false, true, true, false]);
  expect(callsOf([{ command: "pass" }])).toEqual({ bid: null, pass: true });
});

test("the hint follows the situation", () => {
  const [seq, seat, offers] = two.offers[0]!;
  const game = readGame(two.timeline.at(seq))!;
  const base = { game, seat, names: ["Ada", "Ben"], calls: callsOf(offers), missing: null, armed: null };
  expect(hintOf(base).key).toBe("five_towers.hint.bid_start");
  expect(hintOf({ ...base, armed: 3 })).toEqual({ key: "five_towers.hint.confirm", params: { n: 3 } });
  expect(hintOf({ ...base, calls: { bid: null, pass: true } }).key).toBe("five_towers.hint.must_pass");
  expect(hintOf({ ...base, calls: null })).toEqual({ key: "five_towers.hint.wait_bid.you", params: {} });
  expect(hintOf({ ...base, seat: 1 - seat, calls: null })).toEqual({ key: "five_towers.hint.wait_bid", params: { name: base.names[seat] } });
  const passed = new Map([...game.calls, [1 - seat, PASS]]);
  expect(hintOf({ ...base, game: { ...game, calls: passed }, seat: 1 - seat, calls: null })).toEqual({ key: "five_towers.hint.wait_bid.out", params: { name: base.names[seat] } });
  expect(hintOf({ ...base, game: { ...game, calls: passed }, seat: null, calls: null }).key).toBe("five_towers.hint.wait_bid");
  expect(hintOf({ ...base, game: { ...game, phase: "build" }, missing: 2 })).toEqual({ key: "five_towers.hint.pick", params: { n: 2 } });
  expect(hintOf({ ...base, game: { ...game, phase: "build" }, missing: 0 }).key).toBe("five_towers.hint.ready");
  expect(hintOf({ ...base, game: { ...game, phase: "over", turn: null } }).key).toBe("five_towers.hint.over");
});

test("no seat has a turn after the room has ended the game", () => {
  const [seq] = two.offers[0]!;
  const view = two.timeline.at(seq);
  const ended = (more: object) => readGame({ ...view, room: { ...(view["room"] as object), status: "over", ...more } })!;
  expect(readGame(view)).toMatchObject({ isClosed: false, turn: expect.any(Number) });
  expect(ended({ closed: "agreed" })).toMatchObject({ isClosed: true, turn: null });
  expect(ended({ closed: "resigned", result: { scores: [0, 0], places: [1, 2] } })).toMatchObject({ isClosed: false, turn: null });
});

test("high towers close up, but their numbers stay readable", () => {
  expect(stepOf(3, 400)).toBe(40);
  expect(towerHeight(9, stepOf(9, 400))).toBeCloseTo(400);
  expect(towerHeight(16, stepOf(16, 340))).toBeCloseTo(340);
  expect(stepOf(30, 340)).toBe(9);
});

test("facts become flights of cards, one after the other", () => {
  const moves = movesOf(
    [
      ["cards_taken", 1, ["sand:7"]],
      ["card_demolished", 1, "sand:6", 1],
      ["card_built", 1, "sand:7", 2],
      ["display_cleared", ["tree:1"]],
      ["round_started", 4, 2, ["candy:3"], 20],
    ],
    (seat, kind) => (seat === 1 && kind === "sand" ? 2 : 0),
  );
  expect(moves.map(({ card, from, to, stays }) => [card, from, to, stays])).toEqual([
    ["sand:6", "tower 1 sand 2", "torn 1", false],
    ["sand:7", "display sand:7", "tower 1 sand 2", true],
    ["tree:1", "display tree:1", "discard", false],
    ["candy:3", "pile", "display candy:3", true],
  ]);
  expect(moves.every((move, index) => index === 0 || move.delay > moves[index - 1]!.delay)).toBe(true);
});

test("arrows lead to the nearest stop in their direction", () => {
  const box = (x: number, y: number) => ({ left: x, right: x + 10, top: y, bottom: y + 10 });
  const stops = [box(20, 0), box(40, 0), box(2, 40), box(60, 40)];
  expect(nearest(box(0, 0), stops, "ArrowRight")).toBe(0);
  expect(nearest(box(0, 0), stops, "ArrowDown")).toBe(2);
  expect(nearest(box(0, 0), stops, "ArrowLeft")).toBe(-1);
  expect(nearest(box(60, 40), stops.slice(0, 3), "ArrowUp")).toBe(1);
});

describe("the draws", () => {
  test("are those that the game showed", async () => {
    for (const { record } of [two, five, played("three")]) {
      const check = await checkDraws(record);
      expect(check).toMatchObject({ name: "cards", ok: true, detail: { faults: [] } });
    }
  });

  test("do not fit other cards, another start player or another pile", async () => {
    const swapped = structuredClone(two.record);
    const round = swapped.frames.flatMap((frame) => frame.facts).find(([name]) => name === "round_started")!;
    (round[3] as string[]).reverse();
    expect((await checkDraws(swapped)).detail["faults"]).toEqual(["first_pile"]);

    const started = structuredClone(two.record);
    const begin = started.frames.flatMap((frame) => frame.facts).find(([name]) => name === "game_started")!;
    begin[4] = 1 - Number(begin[4]);
    expect((await checkDraws(started)).detail["faults"]).toEqual(["start"]);

    const smaller = structuredClone(five.record);
    (smaller.draws.find((draw) => draw[1] === 0)![3] as string[]).pop();
    expect((await checkDraws(smaller)).ok).toBe(false);

    const hidden = structuredClone(two.record);
    const cleared = hidden.frames.flatMap((frame) => frame.facts).find(([name, cards]) => name === "display_cleared" && (cards as string[]).length)!;
    (cleared[1] as string[]).pop();
    expect((await checkDraws(hidden)).detail["faults"]).toEqual(["discarded"]);
  });

  test("are of 80 or 110 cards", () => {
    expect([2, 3, 4, 5].map((seats) => new Set(deckOf(seats)).size)).toEqual([80, 80, 110, 110]);
  });
});

test("players are told apart by a letter, or by a number where letters are the same", () => {
  const names = ["Ada", "Bot 2", "Bot 3", " élodie", ""];
  expect(names.map((_, seat) => markOfSeat(names, seat))).toEqual(["A", "2", "3", "É", "5"]);
});
