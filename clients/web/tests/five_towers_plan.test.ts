import { describe, expect, test } from "vitest";
import type { Offer } from "towerhall-client";

import { cardOf } from "../src/games/five_towers/play/cards";
import { leading, readGame } from "../src/games/five_towers/play/game";
import { attempt, buildCommand, choicesOf, finished, fitOf, matching, mayDemolish, reason, scoresAfter, type Choice, type Plan, type Step } from "../src/games/five_towers/play/plan";
import { played } from "./five_towers_games";

const pick = (id: string): Step => ({ card: cardOf(id) });

/** FT 13, example 2 in small: a tower `sand 12 6`, two cards to build. */
const OFFERS: Offer[] = [
  {
    command: "build",
    choices: [
      [{ cards: ["candy:14", "tree:3"] }, { score: 5 }],
      [{ cards: ["candy:14", "tree:3"], demolish: "sand" }, { score: 3 }],
      [{ cards: ["candy:14", "sand:7"], demolish: "sand" }, { score: 4 }],
      [{ cards: ["tree:3", "sand:7"], demolish: "sand" }, { score: 4 }],
    ],
  },
];
const choices = choicesOf(OFFERS)!;

describe("a plan is judged by the offers alone", () => {
  test("no offer to build, no choices", () => {
    expect(choicesOf([{ command: "pass" }])).toBeNull();
  });

  test("a card fits now, later or not at all", () => {
    expect(fitOf(choices, [], cardOf("candy:14"))).toBe("now");
    expect(fitOf(choices, [], cardOf("sand:7"))).toBe("later");
    expect(fitOf(choices, [], cardOf("scrap:15"))).toBe("no");
    expect(fitOf(choices, [{ demolish: "sand" }], cardOf("sand:7"))).toBe("now");
  });

  test("the order between kinds and the copy do not matter", () => {
    expect(finished(choices, [pick("tree:3+"), pick("candy:14")])?.score).toBe(5);
    expect(finished(choices, [pick("sand:7"), { demolish: "sand" }, pick("tree:3")])?.score).toBe(4);
  });

  test("within a kind the order is that of the tower", () => {
    const two = choicesOf([{ command: "build", choices: [[{ cards: ["sand:7", "sand:5"] }, {}]] }])!;
    expect(fitOf(two, [], cardOf("sand:5"))).toBe("no");
    expect(fitOf(two, [pick("sand:7")], cardOf("sand:5"))).toBe("now");
  });

  test("only one top can be torn down", () => {
    expect(mayDemolish(choices, [], "sand")).toBe(true);
    expect(mayDemolish(choices, [], "tree")).toBe(false);
    expect(mayDemolish(choices, [{ demolish: "sand" }], "sand")).toBe(false);
  });

  test("the points after it narrow down to one number", () => {
    expect(scoresAfter(choices, [])).toEqual([3, 5]);
    expect(scoresAfter(choices, [pick("candy:14"), pick("tree:3")])).toEqual([5, 5]);
    expect(scoresAfter(choicesOf([{ command: "build", choices: [[{ cards: ["sand:1"] }, {}]] }])!, [])).toBeNull();
  });

  test("the command keeps the order of choosing", () => {
    expect(buildCommand([pick("tree:3"), { demolish: "sand" }, pick("candy:14")])).toEqual({ command: "build", cards: ["tree:3", "candy:14"], demolish: "sand" });
  });
});

describe("why a step is impossible", () => {
  const display = ["sand:7", "candy:14", "tree:3", "scrap:15"].map(cardOf);

  test("is asked by a whole build with that step in its place", () => {
    expect(attempt([pick("candy:14")], pick("scrap:15"), display, 3)).toEqual({ command: "build", cards: ["candy:14", "scrap:15", "sand:7"] });
    expect(attempt([], { demolish: "tree" }, display, 2)).toEqual({ command: "build", cards: ["sand:7", "candy:14"], demolish: "tree" });
  });

  test("is said by the code if it is about the step, and otherwise by what it would lead to", () => {
    const refusal = (index: number) => ({ kind: "rejected", code: "building_rule", rule: "6", params: { index, top: 5 }, hint: "" }) as const;
    expect(reason([pick("candy:14")], pick("scrap:15"), refusal(1))).toEqual({ key: "five_towers.code.building_rule", params: { index: 1, top: 5 } });
    expect(reason([pick("candy:14")], pick("scrap:15"), refusal(2)).key).toBe("five_towers.why.dead_end");
    expect(reason([], { demolish: "tree" }, { ...refusal(0), code: "cannot_demolish" }).key).toBe("five_towers.code.cannot_demolish");
    expect(reason([], { demolish: "tree" }, refusal(1)).key).toBe("five_towers.why.demolish_never");
  });
});

describe.each(["two", "three", "five"] as const)("in the game of %s", (name) => {
  const { timeline, offers } = played(name);
  const builds = offers.flatMap(([seq, seat, offered]) => {
    const found = choicesOf(offered);
    return found ? [{ seq, seat, found, display: readGame(timeline.at(seq))!.display }] : [];
  });

  test("every offered build can be put together card by card", () => {
    for (const { found, display } of builds) for (const choice of found) expect(finished(found, planOf(choice, display))).toBe(choice);
  });

  test("whatever fits now never leads to a dead end", () => {
    let random = 7;
    for (const { seq, found, display } of builds) {
      const size = leading(readGame(timeline.at(seq))!)!.number;
      expect(found[0]!.size).toBe(size);
      for (let run = 0; run < 8; run += 1) {
        let plan: Plan = [];
        for (;;) {
          const steps: Step[] = display.filter((card) => !plan.some((step) => "card" in step && step.card.id === card.id) && fitOf(found, plan, card) === "now").map((card) => ({ card }));
          const demolitions = (["candy", "spooky", "tree", "scrap", "sand"] as const).filter((kind) => mayDemolish(found, plan, kind)).map((demolish): Step => ({ demolish }));
          if (finished(found, plan)) break;
          const next = [...steps, ...demolitions];
          expect(next.length, `seq ${seq}: ${JSON.stringify(plan)}`).toBeGreaterThan(0);
          random = (random * 48271) % 2147483647;
          plan = [...plan, next[random % next.length]!];
          expect(matching(found, plan).length).toBeGreaterThan(0);
        }
      }
    }
  });
});

/** The steps of a choice, with the cards that lie open. */
function planOf(choice: Choice, display: ReturnType<typeof cardOf>[]): Plan {
  const left = [...display];
  const steps: Step[] = choice.demolish ? [{ demolish: choice.demolish }] : [];
  for (const [kind, values] of Object.entries(choice.chains).reverse())
    for (const value of values) {
      const at = left.findIndex((card) => card.kind === kind && card.value === value);
      steps.push({ card: left.splice(at, 1)[0]! });
    }
  return steps;
}
