/** A lesson as its program wrote it: a game played by the real rules, and the moments at which the learner sees it. */
import type { Command, Frame, Offer, Value } from "towerhall-client";

export interface Beat {
  /** Its name among the texts of the game. */
  name: string;
  round: number;
  /** The frame up to which the table is shown. */
  seq: number;
  /** The learner's command; without one, the learner reads and goes on. */
  deed?: Command;
  offers?: Offer[];
  /** The key that the text names. */
  key?: string;
}

export interface Lesson {
  frames: Frame[];
  beats: Beat[];
}

/** Whether the command does what the script says. The order of a list means nothing. */
export function follows(deed: Command, command: Command): boolean {
  const isAsked = Object.entries(deed).every(([name, value]) => isSame(value, command[name]));
  return isAsked && ("demolish" in deed || !("demolish" in command));
}

/** The first beat of the next round; the last beat if there is none. */
export function nextRound(beats: readonly Beat[], at: number): number {
  const found = beats.findIndex(({ round }) => round > beats[at]!.round);
  return found < 0 ? beats.length - 1 : found;
}

/** The rounds of the lesson. */
export function roundsOf(beats: readonly Beat[]): number {
  return beats.at(-1)?.round ?? 0;
}

/** What fills the text of a beat: the parameters of its deed that are plain, and its key. */
export function paramsOf({ deed, key }: Beat): Record<string, string | number> {
  const params: Record<string, string | number> = key === undefined ? {} : { key };
  if (typeof deed?.["number"] === "number") params["n"] = deed["number"];
  return params;
}

function isSame(one: Value, other: Value | undefined): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return [...one].sort().join() === [...other].sort().join();
}
