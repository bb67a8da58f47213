/** What the page reads from views, offers and frames of Nikitin Towers. */
import type { Document, Offer } from "towerhall-client";
import { describe, expect, test } from "vitest";

import { readGame } from "../src/games/nikitin_towers/play/game";
import { newsOf } from "../src/games/nikitin_towers/play/news";
import { placesOf, winnersOf } from "../src/games/nikitin_towers/play/ranking";
import { firstPlace, isOffered, ofSize, readOffers } from "../src/games/nikitin_towers/play/reach";
import { tops } from "../src/games/nikitin_towers/play/tower";
import { Hold } from "../src/games/nikitin_towers/table/hold.svelte";

const view: Document = {
  room: { seats: { "0": { name: "Ada" }, "1": { name: "Ben", bot: "easy" } } },
  game: {
    options: { win: "height", lean: "normal", auto_roll: true }, phase: "place", turn: 1, to_act: 1, turns: 12, die: 5, size: 4, block: "D4",
    pile: { A1: 2, D4: 1, D1: 1, C2: 2, C1: 1 }, quiet: 3,
    towers: { "0": { blocks: { "10": "A1.1@0,0,1", "9": "A1.1@0,0,0" }, height: 2, ring: 0 }, "1": { blocks: { "8": "D2.1@0,1,0" }, height: 2, ring: 0 } },
  },
};
const offers: Offer[] = [
  { command: "place", ranges: { x: [0, 2], y: [-1, 1] }, choices: [[{ shape: "D4.3" }, {}]] },
  { command: "place", ranges: { x: [5, 5], y: [5, 5] }, choices: [[{ shape: "D4.3" }, {}], [{ shape: "D4.4" }, {}]] },
  { command: "give_back", unsure: true },
];

describe("the view", () => {
  test("blocks are in the order of placement", () => {
    const game = readGame(view)!;
    expect(game.towers[0]!.blocks.map(({ turn, z }) => [turn, z])).toEqual([[9, 0], [10, 1]]);
    expect([game.phase, game.turn, game.toAct, game.size, game.block]).toEqual(["place", 1, 1, 4, "D4"]);
    expect(readGame({})).toBeNull();
  });

  test("what is left out of a view is nothing", () => {
    const game = readGame({ game: { options: { win: "ring" }, phase: "over", turns: 3, pile: {}, quiet: 0, towers: {}, end: "stall" } })!;
    expect([game.turn, game.toAct, game.die, game.size, game.block, game.end]).toEqual([null, null, 0, 0, "", "stall"]);
  });

  test("places are those of the room, or follow from the points", () => {
    const game = readGame(view)!;
    expect(placesOf(view, game)).toEqual([1, 1]);
    expect(placesOf({ ...view, room: { result: { scores: [2, 2], places: [2, 1] } } }, game)).toEqual([2, 1]);
    expect(winnersOf(view, game)).toEqual([]);
  });
});

describe("offers", () => {
  const offered = readOffers(offers);

  test("a column is offered inside the rectangles of its shape only", () => {
    const at = (orientation: number, x: number, y: number) => isOffered(offered, { kind: "D4", orientation, x, y });
    expect([at(3, 0, -1), at(3, 2, 1), at(3, 5, 5), at(4, 5, 5)]).toEqual([true, true, true, true]);
    expect([at(3, 3, 0), at(3, 0, 2), at(4, 0, 0), at(1, 0, 0)]).toEqual([false, false, false, false]);
    expect(offered.giveBack).toBe(true);
  });

  test("it begins where it may be placed, near the middle", () => {
    const first = firstPlace(offered, "D4", new Map());
    expect(isOffered(offered, first)).toBe(true);
    expect(Math.abs(first.x - 1)).toBeLessThanOrEqual(1);
  });

  test("a tray has the blocks that may be given", () => {
    const choosing = readOffers([{ command: "choose", choices: [[{ block: "D4" }, {}], [{ block: "D1" }, {}]] }]);
    expect(choosing.blocks).toEqual(["D1", "D4"]);
    expect(choosing.columns).toBeNull();
  });

  test("a lot lies over each block of the size", () => {
    expect(ofSize(readGame(view)!.pile, 3)).toEqual(["C1", "C2", "C2"]);
  });
});

describe("the block in the hand", () => {
  const game = readGame(view)!;
  const hold = new Hold({ blocks: () => game.towers[1]!.blocks, offered: () => readOffers(offers) });

  test("rests on the highest top below it, and follows moves", () => {
    hold.take("D4");
    const { x, y } = hold.placement!;
    hold.move(1, 0);
    expect([hold.placement!.x, hold.placement!.y]).toEqual([x + 1, y]);
    hold.moveTo(50, -50);
    expect(Math.abs(hold.placement!.x)).toBeLessThan(10);
    expect(hold.isOffered).toBe(false);
  });

  test("stays over the same column through four turns", () => {
    hold.take("D4");
    const before = hold.placement;
    for (let turn = 0; turn < 4; turn += 1) hold.turn("turn", 1, 0);
    expect(hold.placement).toEqual(before);
    hold.drop();
    expect(hold.placement).toBeNull();
  });

  test("heights of columns are those of the view", () => {
    expect(Math.max(...tops(game.towers[1]!.blocks).values())).toBe(game.towers[1]!.height);
  });
});

describe("news", () => {
  const before = readGame(view);

  test("a placed block has the number of its turn", () => {
    const news = newsOf([["block_placed", 1, "D4.3@0,0,2", 4, 0]], before)!;
    expect([news.seat, news.placed.turn, news.placed.z, news.fallen]).toEqual([1, 12, 2, []]);
  });

  test("what fell is found in rounds, the new block among it", () => {
    const news = newsOf([["block_placed", 1, "D4.3@0,0,2", 4, 0], ["tower_collapsed", 1, [["12"], ["8"]], 0, 0]], before)!;
    expect(news.fallen.map((round) => round.map(({ kind }) => kind))).toEqual([["D4"], ["D2"]]);
  });

  test("other facts move nothing", () => {
    expect(newsOf([["die_rolled", 0, 13, 4, 4]], before)).toBeNull();
    expect(newsOf([["block_placed", 1, "nonsense", 1, 0]], before)).toBeNull();
  });
});
