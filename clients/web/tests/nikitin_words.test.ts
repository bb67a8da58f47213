/** Facts, refusals and keys of Nikitin Towers in words. */
import { readFileSync } from "node:fs";

import { beforeAll, describe, expect, test } from "vitest";

import game from "../src/games/nikitin_towers/game";
import { KINDS } from "../src/games/nikitin_towers/play/blocks";
import { say } from "../src/games/nikitin_towers/play/say";
import en from "../src/games/nikitin_towers/words/en";
import { join, word } from "../src/words/index.svelte";

beforeAll(() => join(en));
const toldTo = (seat: number | null, ...fact: Parameters<typeof say>[0]) => {
  const said = say(fact, { view: {}, names: ["Ada", "Ben"], seat });
  return said && word(said.key, said.params);
};
const told = (...fact: Parameters<typeof say>[0]) => toldTo(null, ...fact);

describe("the log", () => {
  test("says every fact in words", () => {
    expect(told("game_started", 2, { win: "height" }, [[6, 6], [3, 5]], 1)).toBe("Opening roll: Ada 6, Ben 6; Ada 3, Ben 5. Ben starts.");
    expect(told("die_rolled", 0, 4, 5, 5)).toBe("Ada rolls a 5.");
    expect(told("die_rolled", 0, 4, 5, 3)).toBe("Ada rolls a 5. The next smaller blocks have 3 cubes.");
    expect(told("die_rolled", 0, 4, 5, 0)).toBe("Ada rolls a 5. No block is small enough.");
    expect(told("block_chosen", 1, "D4", "choice")).toBe("Ben gives: T.");
    expect(told("block_chosen", 1, "B1", "forced")).toBe("Only one kind fits: domino.");
    expect(told("block_chosen", 1, "B1", "lot")).toBe("Ben was too slow. Drawn by lot: domino.");
    expect(told("block_placed", 0, "D4.3@1,-1,5", 8, 2)).toBe("Ada places: T, on level 6. The tower has 8 levels.");
    expect(told("tower_collapsed", 0, [["3", "9"], ["0"]], 2, 0)).toBe("Crash! 3 blocks fall from Ada’s tower. Height now: 2.");
    expect(told("block_returned", 1, "F4", "nowhere")).toBe("The block (plus with a knob) fits nowhere, so Ben gives it back.");
    expect(told("block_returned", 1, "F4", "time")).toBe("Ben ran out of time. The block (plus with a knob) goes back.");
    expect(told("game_ended", "pile", [8, 11], [0, 2])).toBe("The pile is empty. Heights: Ada 8, Ben 11. Ring levels: Ada 0, Ben 2.");
    expect(told("person_sat", 0, "Ada", "")).toBeNull();
  });

  test("speaks to the viewer, not of them", () => {
    expect(toldTo(1, "game_started", 2, { win: "height" }, [[6, 3]], 1)).toBe("Opening roll: Ada 6, You 3. You start.");
    expect(toldTo(0, "tower_collapsed", 0, [["3"]], 2, 0)).toBe("Crash! 1 block falls from your tower. Height now: 2.");
    expect(toldTo(0, "block_chosen", 1, "D4", "choice")).toBe("Ben gives: T.");
  });
});

test("every key that the page lists has words", () => {
  for (const { does } of game.keys) expect(word(does), does).not.toBeNull();
});

test("every block has a name of its own", () => {
  const names = KINDS.map((kind) => word(`nikitin_towers.block.${kind}`));
  expect(names).not.toContain(null);
  expect(new Set(names).size).toBe(KINDS.length);
});

test("every refusal of the game has words", () => {
  const source = readFileSync(new URL("../../../server/towerhall_server/games/nikitin_towers/rejections.py", import.meta.url), "utf8");
  const codes = [...source.matchAll(/^ {4}"(\w+)": Reason/gm)].map(([, code]) => code!);
  expect(codes).toContain("place_may_exist");
  for (const code of codes) expect(en).toHaveProperty([`nikitin_towers.code.${code}`]);
});

test("every picture of the rules has words", async () => {
  const figures = (await game.rules("en")).sections.flatMap(({ figure }) => figure ?? []);
  expect(figures.length).toBeGreaterThan(3);
  for (const figure of figures) expect(word(`nikitin_towers.figure.${figure}`), figure).not.toBeNull();
});
