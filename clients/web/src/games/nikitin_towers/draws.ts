/**
 * Whether the dice that were shown are those that were drawn (NT 6). That the draws themselves follow from the seed is checked
 * for every game alike; here is what they mean in this game.
 *
 * Acts are counted from 0: first the opening rolls, one for each player who rolls, in the order of seats, round after round.
 * Then each die takes the next act, and so does each lot that chooses a block when time has run out.
 */
import { Timeline, type Check, type Draw, type Fact, type GameRecord, type Value } from "towerhall-client";

import { readGame } from "./play/game";
import { ofSize } from "./play/reach";

const SIDES = 6;

/** What an act has to have drawn. */
interface Shown {
  kind: "opening" | "dice" | "lots";
  bound: number;
  /** Which results are possible: of a lot, every block of that kind. */
  results: readonly number[];
}

export async function checkDraws(record: GameRecord): Promise<Check> {
  const shown = whatWasShown(record);
  const deal = record.proof.deals.findLast((each) => each.outcome === "dealt")?.deal;
  if (!shown || deal === undefined) return { name: "dice", ok: true, detail: {} };
  const draws = record.draws.filter((draw) => draw[0] === deal);
  const faults = new Set<string>();
  shown.acts.forEach((act, number) => { if (!fits(act, draws[number], number)) faults.add(act.kind); });
  if (draws.length !== shown.acts.length) faults.add("count");
  if (shown.start !== startOf(shown.opening)) faults.add("start");
  const dice = shown.acts.filter(({ kind }) => kind === "dice").map(({ results }) => results[0]! + 1);
  const lots = shown.acts.filter(({ kind }) => kind === "lots").length;
  return {
    name: "dice",
    ok: faults.size === 0,
    detail: { faults: [...faults], opening: shown.opening.flat().filter((die) => die > 0), start: shown.start + 1, dice, lots, count: draws.length },
  };
}

function fits(act: Shown, draw: Draw | undefined, number: number): boolean {
  return draw !== undefined && draw[1] === number && draw[2] === "below" && draw[3] === act.bound && act.results.includes(draw[4]);
}

/** All acts that the frames of the last game tell of; null if none was played. */
function whatWasShown(record: GameRecord): { acts: Shown[]; opening: number[][]; start: number } | null {
  const began = record.frames.findLastIndex(({ facts }) => facts.some(([name]) => name === "game_started"));
  if (began < 0) return null;
  const timeline = new Timeline(record.frames);
  const started = record.frames[began]!.facts.find(([name]) => name === "game_started")!;
  const opening = lists(started[3]);
  const acts: Shown[] = opening.flat().filter((die) => die > 0).map((die) => rolled(die, "opening"));
  for (const frame of record.frames.slice(began))
    for (const fact of frame.facts) {
      if (fact[0] === "die_rolled") acts.push(rolled(Number(fact[3]), "dice"));
      if (fact[0] === "block_chosen" && fact[3] === "lot") acts.push(lot(fact, timeline, frame.seq));
    }
  return { acts, opening, start: Number(started[4]) };
}

function rolled(shown: number, kind: "opening" | "dice"): Shown {
  return { kind, bound: SIDES, results: [shown - 1] };
}

/** All blocks of the size lie in the lot, sorted by kind, each as often as the pile had it. */
function lot([, , block]: Fact, timeline: Timeline, seq: number): Shown {
  const game = readGame(timeline.at(seq - 1));
  const blocks = game ? ofSize(game.pile, game.size) : [];
  return { kind: "lots", bound: blocks.length, results: blocks.flatMap((each, index) => (each === block ? [index] : [])) };
}

/** The leader in the last round; -1 without one. */
function startOf(opening: readonly number[][]): number {
  const last = opening.at(-1) ?? [];
  const most = Math.max(...last);
  return last.filter((die) => die === most).length === 1 ? last.indexOf(most) : -1;
}

function lists(value: Value | undefined): number[][] {
  return Array.isArray(value) ? value.map((round) => (Array.isArray(round) ? round.map(Number) : [])) : [];
}
