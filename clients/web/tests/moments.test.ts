import { expect, test } from "vitest";

import { momentsOf, spiresOf } from "../src/games/five_towers/play/moments";
import { bestTower } from "../src/games/five_towers/play/ranking";
import { momentsOf as fallsOf } from "../src/games/nikitin_towers/play/moments";

test("a frame of Five Towers is heard once for each kind of moment", () => {
  expect(momentsOf([["auction_won", 1, 3]])).toEqual(["gavel"]);
  expect(momentsOf([["card_built", 1, "sand:7", 1], ["card_built", 1, "sand:0", 2], ["round_started", 2, 0, []]])).toEqual(["card", "spire"]);
  expect(momentsOf([["passed", 1, false]])).toEqual([]);
});

test("spires are found with the seat that built them", () => {
  expect(spiresOf([["card_built", 1, "sand:10", 1], ["card_built", 2, "tree:0+", 4]])).toEqual([{ seat: 2, kind: "tree" }]);
});

test("a collapse of Nikitin Towers is heard", () => {
  expect(fallsOf([["block_placed", 0, "B1"], ["tower_collapsed", 0, [[3]]]])).toEqual(["collapse"]);
  expect(fallsOf([["block_placed", 0, "B1"]])).toEqual([]);
});

test("the best tower counts twice below a spire", () => {
  const none = { candy: [], spooky: [], tree: [], scrap: [], sand: [] };
  expect(bestTower(none)).toBeNull();
  expect(bestTower({ ...none, candy: [9, 7, 5], sand: [3, 0] })).toEqual({ kind: "sand", values: [3, 0] });
  expect(bestTower({ ...none, candy: [9, 7, 5], sand: [0] })).toEqual({ kind: "candy", values: [9, 7, 5] });
});
