/** Lessons: which command follows the script, where a skipped round leads, and that every moment has its text. */
import { Timeline } from "towerhall-client";
import { describe, expect, it } from "vitest";

import { follows, nextRound, paramsOf, roundsOf, type Beat, type Lesson } from "../src/learn/lesson";
import type { Catalogue } from "../src/words/index.svelte";

const lessons = import.meta.glob<Lesson>("../src/games/*/lesson.json", { eager: true, import: "default" });
const words = import.meta.glob<Catalogue>("../src/games/*/lesson/en.ts", { eager: true, import: "default" });

describe.each(Object.entries(lessons))("%s", (path, { frames, beats }) => {
  const game = /games\/([^/]+)\//.exec(path)![1]!;
  const texts = words[path.replace("lesson.json", "lesson/en.ts")]!;

  it("has a text for each moment and for each kind of refusal, and no other", () => {
    const moments = beats.map(({ name }) => `${game}.lesson.${name}`);
    const refusals = beats.flatMap(({ deed }) => (deed ? [`${game}.lesson.${deed.command}.else`] : []));
    expect(Object.keys(texts).sort()).toEqual([...new Set([...moments, ...refusals])].sort());
  });

  it("fills each parameter of its texts", () => {
    for (const beat of beats) {
      const wanted = [...String(texts[`${game}.lesson.${beat.name}`]).matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(Object.keys(paramsOf(beat))).toEqual(expect.arrayContaining(wanted));
    }
  });

  it("goes forward only, through frames that make a view each", () => {
    const timeline = new Timeline(frames);
    const seqs = beats.map(({ seq }) => seq);
    expect(seqs).toEqual([...seqs].sort((one, other) => one - other));
    expect(seqs.at(-1)).toBe(timeline.last);
    for (const seq of seqs) expect(timeline.at(seq)).toHaveProperty("game.phase");
  });
});

describe("a command follows the script", () => {
  const build = { command: "build", cards: ["tree:1", "sand:7"], demolish: "sand" };

  it.each([
    ["the same command", build, true],
    ["the same cards in another order", { ...build, cards: ["sand:7", "tree:1"] }, true],
    ["another card", { ...build, cards: ["sand:7", "tree:2"] }, false],
    ["fewer cards", { ...build, cards: ["sand:7"] }, false],
    ["another demolition", { ...build, demolish: "tree" }, false],
    ["no demolition", { command: "build", cards: build.cards }, false],
    ["another command", { command: "pass" }, false],
  ])("%s", (_, command, isFollowed) => {
    expect(follows(build, command)).toBe(isFollowed);
  });

  it("a demolition that the script does not have is not followed", () => {
    expect(follows({ command: "build", cards: build.cards }, build)).toBe(false);
  });
});

it("a skipped round leads to the first moment of the next one, the last to the end", () => {
  const beats = [1, 1, 2, 3, 3].map((round, seq): Beat => ({ name: "", round, seq }));
  expect(beats.map((_, at) => nextRound(beats, at))).toEqual([2, 2, 3, 4, 4]);
  expect(roundsOf(beats)).toBe(3);
});
