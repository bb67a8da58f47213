import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Answer, Command, Offer } from "towerhall-client";

import { cardOf } from "../src/games/five_towers/play/cards";
import { Planner } from "../src/games/five_towers/table/planner.svelte";
import en from "../src/games/five_towers/words/en";
import { join } from "../src/words/index.svelte";

beforeAll(() => join(en));

const OFFERS: Offer[] = [
  {
    command: "build",
    choices: [
      [{ cards: ["candy:14", "tree:3"] }, { score: 5 }],
      [{ cards: ["candy:14", "sand:7"], demolish: "sand" }, { score: 4 }],
      [{ cards: ["tree:9", "tree:3"] }, { score: 6 }],
    ],
  },
];
const display = ["candy:14", "tree:3", "sand:7", "tree:9", "scrap:15"].map(cardOf);
const [candy, tree3, sand, tree9, scrap] = display;

let offers = OFFERS;
let answer: Answer;
const dry = vi.fn(async (_command: Command) => answer);
let kept: string[] = [];
const planner = () => new Planner({ offers: () => offers, display: () => display, try: dry, keep: (plan) => void (kept = plan) });

beforeEach(() => {
  offers = OFFERS;
  dry.mockClear();
  answer = { kind: "rejected", code: "building_rule", rule: "6", params: { index: 0, top: 5 }, hint: "no" };
});

describe("a build in the making", () => {
  test("is kept with each step, and goes on from there", async () => {
    const mine = planner();
    await mine.demolish("sand");
    await mine.pick(sand!);
    expect(kept).toEqual(["-sand", "sand:7"]);
    const again = planner();
    again.restore(kept);
    expect([again.plan, again.ready]).toEqual([mine.plan, false]);
    await again.pick(candy!);
    expect(again.ready).toBe(true);
  });

  test("begins anew if what was kept is of another build", () => {
    const mine = planner();
    for (const other of [["sand:6"], ["-dust"], ["-sand", 7], "sand:7", undefined, ["tree:3", "sand:7"]]) {
      mine.restore(other);
      expect(mine.plan).toEqual([]);
    }
  });

  test("grows card by card, and is ready when the offers know it", async () => {
    const mine = planner();
    await mine.pick(tree3!);
    expect([mine.ready, mine.fit(candy!)]).toEqual([false, "now"]);
    await mine.pick(candy!);
    expect([mine.ready, mine.full, mine.scores]).toEqual([true, true, [5, 5]]);
    mine.undo();
    expect(mine.cards.map(({ id }) => id)).toEqual(["tree:3"]);
    mine.clear();
    expect(mine.plan).toEqual([]);
  });

  test("a card that is taken back takes along what lies on it", async () => {
    const mine = planner();
    await mine.pick(tree9!);
    await mine.pick(tree3!);
    await mine.pick(tree9!);
    expect(mine.plan).toEqual([]);
  });

  test("a top that is kept after all puts the cards above it back", async () => {
    const mine = planner();
    await mine.demolish("sand");
    await mine.pick(sand!);
    await mine.pick(candy!);
    expect([mine.razed, mine.ready]).toEqual(["sand", true]);
    await mine.demolish("sand");
    expect([mine.razed, mine.cards.map(({ id }) => id)]).toEqual([null, ["candy:14"]]);
  });

  test("is dropped when the offers do not fit it any more", async () => {
    const mine = planner();
    await mine.pick(candy!);
    expect(mine.plan).toHaveLength(1);
    offers = [];
    expect([mine.choices, mine.plan]).toEqual([null, []]);
    await mine.pick(candy!);
    expect(mine.plan).toEqual([]);
  });
});

describe("what is impossible is explained", () => {
  test("from the offers, if they tell", async () => {
    const mine = planner();
    await mine.pick(sand!);
    expect(mine.why).toBe("Sand 7 fits once the top of your Sand tower is torn down.");
    mine.wrongTower(sand!);
    expect(mine.why).toBe("Sand 7 belongs on the Sand tower.");
    await mine.pick(candy!);
    expect(mine.why).toBe("");
    await mine.pick(tree3!);
    await mine.pick(scrap!);
    expect(mine.why).toMatch(/^All the cards you bid for/);
    await mine.demolish("sand");
    expect(dry).toHaveBeenCalledOnce();
  });

  test("by a dry run otherwise", async () => {
    const mine = planner();
    await mine.pick(scrap!);
    expect(dry).toHaveBeenCalledWith({ command: "build", cards: ["scrap:15", "candy:14"] });
    expect(mine.why).toBe("This card may not go on a 5.");
    answer = { kind: "rejected", code: "not_heard_of", rule: "", params: {}, hint: "as the server says" };
    await mine.pick(scrap!);
    expect(mine.why).toBe("as the server says");
    answer = { kind: "rejected", code: "building_rule", rule: "6", params: { index: 1, top: 5 }, hint: "" };
    await mine.pick(scrap!);
    expect(mine.why).toBe("After Metal 15 you could not place all 2 cards.");
  });

  test("one demolition is enough", async () => {
    const mine = planner();
    await mine.demolish("sand");
    await mine.demolish("candy");
    expect(mine.why).toBe("Only one card may be torn down in a round.");
    expect(dry).not.toHaveBeenCalled();
  });
});
