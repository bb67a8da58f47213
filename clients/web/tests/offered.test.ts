import { describe, expect, test } from "vitest";
import type { Catalogue } from "towerhall-client";

import { inOrder, isOffered, levelFor, levelsOf, sizeFor, sizesOf, type Offered } from "../src/lobby/offered";

const game = (seats: [number, number], levels: string[] = ["easy", "medium", "hard"]): Offered => ({ name: "mine", seats, levels });

describe("wishes are fitted to the game", () => {
  test("tables have as many seats as the game takes, and two at least where it can", () => {
    expect(sizesOf(game([2, 3]))).toEqual([2, 3]);
    expect(sizesOf(game([1, 4]))).toEqual([2, 3, 4]);
    expect(sizesOf(game([1, 1]))).toEqual([1]);
    expect([1, 3, 5].map((wanted) => sizeFor(game([2, 3]), wanted))).toEqual([2, 3, 3]);
    expect(sizeFor(game([4, 6]), 2)).toBe(4);
  });

  test("a game without the wanted level gets the middle one of its own", () => {
    expect(levelFor(game([2, 3]), "hard")).toBe("hard");
    expect(levelFor(game([2, 3], ["easy", "hard"]), "medium")).toBe("hard");
    expect(levelFor(game([2, 3], ["easy"]), "hard")).toBe("easy");
    const catalogue = { games: [game([2, 3], ["easy"])] } as unknown as Catalogue;
    expect(levelsOf(catalogue, "mine")).toEqual(["easy"]);
    expect(levelsOf(null, "mine")).toEqual(["easy", "medium", "hard"]);
  });
});

test("games with pictures come first", () => {
  const names = (list: string[]) => inOrder(list.map((name) => ({ ...game([2, 3]), name }))).map(({ name }) => name);
  expect(names(["a_game", "five_towers", "z_game"])).toEqual(["five_towers", "a_game", "z_game"]);
});

test("what a browser has kept is read only if it has the right form", () => {
  expect(isOffered(game([2, 5]))).toBe(true);
  for (const wrong of [null, {}, { ...game([3, 2]) }, { ...game([2, 5]), levels: "easy" }, { ...game([2, 5]), seats: [2] }, { ...game([2, 5]), name: 7 }])
    expect(isOffered(wrong)).toBe(false);
});
