/** Dice and lots that a record shows are compared with what was drawn. */
import type { Draw, Frame, GameRecord } from "towerhall-client";
import { describe, expect, test } from "vitest";

import { checkDraws } from "../src/games/nikitin_towers/draws";

const pile = { C1: 3, C2: 2 };
const frame = (seq: number, facts: Frame["facts"], patch: Frame["patch"] = {}): Frame => ({ seq, mark: "", cause: [], facts, patch });

/** An opening roll with a tie, two dice, and a lot. */
const frames: Frame[] = [
  frame(1, [["room_created"]]),
  frame(2, [["game_started", 2, {}, [[6, 6], [2, 4]], 1], ["die_rolled", 1, 1, 3, 3]], { game: { phase: "choose", turn: 1, to_act: 0, turns: 1, size: 3, die: 3, pile, quiet: 0, options: {}, towers: {} } }),
  frame(3, [["block_chosen", 0, "C2", "lot"]]),
  frame(4, [["block_placed", 1, "C2.1@0,0,0", 2, 0], ["die_rolled", 0, 2, 6, 3]]),
];
const draws: Draw[] = [
  [1, 0, "below", 6, 5], [1, 1, "below", 6, 5], [1, 2, "below", 6, 1], [1, 3, "below", 6, 3], [1, 4, "below", 6, 2], [1, 5, "below", 5, 4], [1, 6, "below", 6, 5],
];
const record = (change: Partial<GameRecord> = {}): GameRecord =>
  ({ seats: [{ name: "Ada" }, { name: "Ben" }], frames, draws, proof: { commitment: "", secret: "", deals: [{ deal: 1, outcome: "dealt", seats: [] }] }, ...change }) as unknown as GameRecord;
const faults = async (change: Partial<GameRecord>) => (await checkDraws(record(change))).detail["faults"];

describe("the check of the draws", () => {
  test("holds for a record that shows what was drawn", async () => {
    const check = await checkDraws(record());
    expect(check).toMatchObject({ name: "dice", ok: true, detail: { faults: [], dice: [3, 6], lots: 1, start: 2, count: 7 } });
  });

  test.each([0, 1, 2, 3, 4, 5, 6])("act %i must have drawn what was shown", async (act) => {
    const other = draws.map((draw): Draw => (draw[1] === act ? ([...draw.slice(0, 4), act === 5 ? 0 : (Number(draw[4]) + 1) % 6] as unknown as Draw) : draw));
    expect(await faults({ draws: other })).toEqual([act < 4 ? "opening" : act === 5 ? "lots" : "dice"]);
  });

  test("a lot is drawn from the blocks of the size in the pile", async () => {
    const other = draws.map((draw): Draw => (draw[1] === 5 ? [1, 5, "below", 6, 4] : draw));
    expect(await faults({ draws: other })).toEqual(["lots"]);
  });

  test("no draw may be missing or too many", async () => {
    expect(await faults({ draws: draws.slice(0, -1) })).toEqual(["dice", "count"]);
    expect(await faults({ draws: [...draws, [1, 7, "below", 6, 0]] })).toEqual(["count"]);
  });

  test("the highest roll begins", async () => {
    const changed = frames.map((each) => (each.seq === 2 ? { ...each, facts: [["game_started", 2, {}, [[6, 6], [2, 4]], 0], each.facts[1]!] as Frame["facts"] } : each));
    expect(await faults({ frames: changed })).toEqual(["start"]);
  });

  test("without a game there is nothing to check", async () => {
    expect((await checkDraws(record({ frames: frames.slice(0, 1) }))).ok).toBe(true);
  });
});
