import { describe, expect, test } from "vitest";
import type { Offer } from "towerhall-client";

import { bounds, commandOf, formsOf, outline, pickText, rangesText } from "../src/room/plain";
import { factText, sentence } from "../src/words/identifiers";

/** Rectangles of columns, each with the shapes that may be put there. */
const OFFERS: Offer[] = [
  { command: "place", ranges: { x: [0, 2], y: [-1, 1] }, choices: [[{ shape: "D4.3" }, {}], [{ shape: "D4.7" }, { height: 4 }]] },
  { command: "place", ranges: { y: [3, 3], x: [5, 6] }, choices: [[{ shape: "D4.3" }, {}]] },
  { command: "give_back", unsure: true },
  { command: "choose", choices: [[{ block: "A1" }, {}], [{ block: "B2" }, {}]] },
];
const forms = formsOf(OFFERS);
const [place, back, choose] = forms;

describe("offers become forms", () => {
  test("one for each command and its numbers, with every choice once", () => {
    expect(forms.map(({ command, numbers, picks, unsure }) => [command, numbers, picks.length, unsure])).toEqual([
      ["place", ["x", "y"], 2, false],
      ["give_back", [], 1, true],
      ["choose", [], 2, false],
    ]);
    expect(formsOf([])).toEqual([]);
  });

  test("numbers have the bounds that go with the choice", () => {
    expect(bounds(place!, place!.picks[0]!, "x")).toEqual([0, 6]);
    expect(bounds(place!, place!.picks[1]!, "x")).toEqual([0, 2]);
    expect(rangesText(place!, place!.picks[0]!)).toBe("x 0 – 2, y -1 – 1; x 5 – 6, y 3");
  });

  test("a command is spelt by one offer alone, and nothing else is sent", () => {
    const [first, second] = place!.picks;
    expect(commandOf(place!, first!, { x: 6, y: 3 })).toEqual({ command: "place", shape: "D4.3", x: 6, y: 3 });
    expect(commandOf(place!, first!, { x: 6, y: 0 })).toBeNull();
    expect(commandOf(place!, second!, { x: 6, y: 3 })).toBeNull();
    for (const x of [NaN, 0.5, -1]) expect(commandOf(place!, first!, { x, y: 0 })).toBeNull();
    expect(commandOf(place!, first!, { x: 1 })).toBeNull();
    expect(commandOf(back!, back!.picks[0]!, {})).toEqual({ command: "give_back" });
    expect(commandOf(choose!, choose!.picks[1]!, {})).toEqual({ command: "choose", block: "B2" });
  });

  test("hundreds of choices are all there", () => {
    const many = formsOf([{ command: "build", choices: Array.from({ length: 500 }, (_, n) => [{ n }, {}]) }]);
    expect(many[0]!.picks).toHaveLength(500);
    expect(commandOf(many[0]!, many[0]!.picks[499]!, {})).toEqual({ command: "build", n: 499 });
  });
});

describe("identifiers as text", () => {
  test("names begin with a capital letter", () => {
    expect(sentence("dice_duel")).toBe("Dice duel");
  });

  test("choices, with what is known to follow", () => {
    expect(pickText({ params: { side: "flat", cards: ["a:1", "b:2"] }, effect: { gain: 1 } })).toBe("flat, a:1, b:2 (gain 1)");
    expect(pickText({ params: {}, effect: {} })).toBe("");
  });

  test("facts", () => {
    expect(factText(["die_rolled", 1, 5])).toBe("Die rolled: 1, 5");
    expect(factText(["tower_collapsed", 0, [["3", "9"], ["0"]]])).toBe("Tower collapsed: 0, (3, 9), (0)");
    expect(factText(["ended"])).toBe("Ended");
    expect(factText(["told", "", []])).toBe("Told");
  });

  test("a view is an outline", () => {
    expect(outline({ phase: "roll", towers: { "0": { height: 3, blocks: { "7": "A1" } } }, pile: ["a", "b"] })).toBe(
      ["phase: roll", "towers:", "  0:", "    height: 3", "    blocks: 7 A1", "pile: a, b"].join("\n"),
    );
  });
});
