import { readFileSync } from "node:fs";

import { beforeAll, describe, expect, test } from "vitest";

import game from "../src/games/five_towers/game";
import { KINDS } from "../src/games/five_towers/play/cards";
import { say } from "../src/games/five_towers/play/say";
import en from "../src/games/five_towers/words/en";
import { join, LANGUAGES, word } from "../src/words/index.svelte";
import { played } from "./five_towers_games";

beforeAll(() => join(en));
const context = { view: {}, names: ["Ada", "Ben"], seat: null };
const toldTo = (seat: number | null, ...fact: Parameters<typeof say>[0]) => {
  const said = say(fact, { ...context, seat });
  return said && word(said.key, said.params);
};
const told = (...fact: Parameters<typeof say>[0]) => toldTo(null, ...fact);

describe("the log", () => {
  test("says every fact in words", () => {
    expect(told("bid_made", 1, 3, false)).toBe("Ben bids 3.");
    expect(told("bid_made", 1, 0, true)).toBe("Ben can only bid 0.");
    expect(told("passed", 0, true)).toBe("Ada has to pass.");
    expect(told("auction_won", 0, 1)).toBe("Ada wins the auction and builds 1 card.");
    expect(told("cards_taken", 0, ["sand:7+", "spooky:0"])).toBe("Ada takes Sand 7, Ghost 0.");
    expect(told("card_built", 0, "sand:7+", 2)).toBeNull();
    expect(told("card_built", 0, "spooky:0", 2)).toBe("Ada crowns the Ghost tower with a spire.");
    expect(told("card_demolished", 1, "tree:4", 2)).toBe("Ben tears down Tree 4: 2 cards so far.");
    expect(told("display_cleared", [])).toBeNull();
    expect(told("pile_reshuffled", 0)).toBe("The pile is used up, and nothing was discarded.");
    expect(told("game_ended", [{ total: 7 }, { total: 7 }], [0, 1])).toBe("Ada, Ben share the win with 7 points.");
    expect(told("person_sat", 0, "Ada", "")).toBeNull();
  });

  test("speaks to the viewer, not of them", () => {
    expect(toldTo(1, "bid_made", 1, 3, false)).toBe("You bid 3.");
    expect(toldTo(0, "bid_made", 1, 3, false)).toBe("Ben bids 3.");
    expect(toldTo(0, "auction_won", 0, 1)).toBe("You win the auction and build 1 card.");
    expect(toldTo(0, "game_ended", [{ total: 7 }, { total: 7 }], [0, 1])).toBe("You share the win with Ben: 7 points each.");
    expect(toldTo(1, "game_ended", [{ total: 9 }, { total: 7 }], [0])).toBe("Ada wins with 9 points.");
  });

  test("tells a build in the order of the rules: take, tear down, build", () => {
    const frame = ["two", "three", "five"].flatMap((name) => played(name as "two").record.frames).find(({ facts }) => facts.some(([fact]) => fact === "card_demolished") && facts.some(([fact, , card]) => fact === "card_built" && String(card).includes(":0")))!;
    const said = frame.facts.flatMap((fact) => say(fact, context)?.key.replace("five_towers.log.", "") ?? []);
    expect(said.slice(0, 3)).toEqual(["cards_taken", "card_demolished", "spire_built"]);
  });

  test("has words for whatever happened in whole games, with nothing left to fill in", () => {
    for (const name of ["two", "three", "five"] as const) {
      const { record } = played(name);
      const names = record.seats.map((seat) => seat!.name);
      for (const fact of record.frames.flatMap((frame) => frame.facts)) {
        const said = say(fact, { ...context, names });
        if (said) expect(word(said.key, said.params), fact[0]).toMatch(/^[^{}]+$/);
      }
    }
  });
});

test.each(LANGUAGES)("letters tell the kinds apart in the language %s", async (language) => {
  const words = await game.words(language);
  const letters = KINDS.map((kind) => String(words[`five_towers.letter.${kind}`]));
  expect(new Set(letters).size).toBe(KINDS.length);
  for (const [at, kind] of KINDS.entries()) expect(String(words[`five_towers.kind.${kind}`]).startsWith(letters[at]!)).toBe(true);
});

test("every key that the page lists has words", () => {
  for (const { does } of game.keys) expect(word(does), does).not.toBeNull();
});

test("the rules have sections with words, and figures that can be drawn", async () => {
  const { sections: rules } = await game.rules("en");
  expect(rules.map(({ id }) => id)).toContain("building");
  for (const section of rules) expect(section.paragraphs.length).toBeGreaterThan(0);
});

describe("the catalogue covers the rules", () => {
  const rules = readFileSync(new URL("../../../server/towerhall_server/games/five_towers/RULES.md", import.meta.url), "utf8");
  const section = rules.slice(rules.indexOf("## 14."));
  /** The first column of the table with that heading. */
  const column = (heading: string) => {
    const table = section.slice(section.indexOf(`| ${heading} |`)).split("\n\n")[0]!;
    return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!);
  };

  test("every refusal of the game has words", () => {
    const codes = column("code").filter((code) => !code.startsWith("bad_"));
    expect(codes).toContain("bid_infeasible");
    for (const code of codes) expect(en).toHaveProperty([`five_towers.code.${code}`]);
  });

  test("every event is worded, or left out on purpose", () => {
    const silent = { card_built: ["card_built", 0, "sand:7", 2] } as const;
    const events = column("event");
    expect(events).toContain("bid_withdrawn");
    const facts = ["two", "three", "five"].flatMap((name) => played(name as "two").record.frames.flatMap((frame) => frame.facts));
    for (const event of events.filter((each) => !(each in silent))) {
      const fact = facts.find(([name, first]) => name === event && !(Array.isArray(first) && !first.length));
      if (fact) expect(say(fact, context), event).not.toBeNull();
      else expect(["bid_withdrawn", "auction_empty"]).toContain(event);
    }
    expect(told("bid_withdrawn", 1, 4, 2)).toBe("Ben could not build 4 cards and takes the bid back.");
    expect(told("auction_empty")).toBe("No player takes these cards.");
  });
});
