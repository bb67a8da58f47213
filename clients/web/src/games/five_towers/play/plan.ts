/**
 * A build in the making: cards and at most one demolition, in the order in which they were chosen.
 *
 * What may come next is read from the offered builds alone. An offer names one order for each outcome; the order between
 * kinds means nothing, and neither does which of two copies is taken. Therefore builds are compared kind by kind, by values.
 */
import type { Answer, Command, Document, Offer } from "towerhall-client";

import { KINDS, cardOf, type Card, type Kind } from "./cards";

export type Step = { card: Card } | { demolish: Kind };
export type Plan = readonly Step[];

/** One offered build. */
export interface Choice {
  chains: Record<Kind, readonly number[]>;
  size: number;
  demolish: Kind | null;
  score: number | null;
}

/** now: it fits; later: once the top of its tower is torn down; no: not with this plan. */
export type Fit = "now" | "later" | "no";

export function choicesOf(offers: readonly Offer[]): Choice[] | null {
  const build = offers.find((offer) => offer.command === "build");
  return build?.choices?.map(([parameters, effect]) => readChoice(parameters, effect)) ?? null;
}

export function cardsOf(plan: Plan): Card[] {
  return plan.flatMap((step) => ("card" in step ? [step.card] : []));
}

export function demolitionOf(plan: Plan): Kind | null {
  for (const step of plan) if ("demolish" in step) return step.demolish;
  return null;
}

/** The plan as it is kept on the device: ids of cards, and kinds to tear down after a minus. */
export function writePlan(plan: Plan): string[] {
  return plan.map((step) => ("card" in step ? step.card.id : `-${step.demolish}`));
}

/** A kept plan; empty unless each of its steps may be one of this build. */
export function readPlan(kept: unknown, display: readonly Card[]): Plan {
  const steps = (Array.isArray(kept) ? kept : []).map((text): Step | undefined => {
    const kind = KINDS.find((each) => text === `-${each}`);
    const card = display.find(({ id }) => id === text);
    return kind ? { demolish: kind } : card && { card };
  });
  return steps.every((step) => step !== undefined) && new Set(steps).size === steps.length ? steps : [];
}

/** The offered builds that the plan can still become. */
export function matching(choices: readonly Choice[], plan: Plan): Choice[] {
  const chains = chainsOf(cardsOf(plan));
  const demolish = demolitionOf(plan);
  return choices.filter(
    (choice) => (demolish === null || choice.demolish === demolish) && KINDS.every((kind) => begins(choice.chains[kind], chains[kind])),
  );
}

/** The offered build that the plan is, or null. */
export function finished(choices: readonly Choice[], plan: Plan): Choice | null {
  const size = cardsOf(plan).length;
  const demolish = demolitionOf(plan);
  return matching(choices, plan).find((choice) => choice.size === size && choice.demolish === demolish) ?? null;
}

export function fitOf(choices: readonly Choice[], plan: Plan, card: Card): Fit {
  const left = matching(choices, [...plan, { card }]);
  if (left.length === 0) return "no";
  const bared = demolitionOf(plan) === card.kind;
  return bared || left.some((choice) => choice.demolish !== card.kind) ? "now" : "later";
}

export function mayDemolish(choices: readonly Choice[], plan: Plan, kind: Kind): boolean {
  return demolitionOf(plan) === null && matching(choices, [...plan, { demolish: kind }]).length > 0;
}

/** The least and the most points that the plan can lead to; null if the offers do not say. */
export function scoresAfter(choices: readonly Choice[], plan: Plan): [least: number, most: number] | null {
  const done = finished(choices, plan);
  const scores = (done ? [done] : matching(choices, plan)).flatMap((choice) => choice.score ?? []);
  return scores.length ? [Math.min(...scores), Math.max(...scores)] : null;
}

export function buildCommand(plan: Plan): Command {
  const demolish = demolitionOf(plan);
  const cards = cardsOf(plan).map((card) => card.id);
  return { command: "build", cards, ...(demolish === null ? {} : { demolish }) };
}

/**
 * A whole build to be tried out, to learn why a step is impossible: the plan, the step, and any other cards to make up the
 * number. Cards are judged in order, so the refusal tells whether it is about the step or about what comes after it.
 */
export function attempt(plan: Plan, step: Step, display: readonly Card[], size: number): Command {
  const tried = [...plan, step];
  const used = new Set(cardsOf(tried).map((card) => card.id));
  const rest = display.filter((card) => !used.has(card.id)).map((card): Step => ({ card }));
  return buildCommand([...tried, ...rest.slice(0, size - used.size)]);
}

/** Key and parameters of the words that explain the answer to an `attempt`. */
export function reason(plan: Plan, step: Step, answer: Answer): { key: string; params: Record<string, string | number> } {
  const place = cardsOf(plan).length;
  if (answer.kind === "rejected" && !(answer.code === "building_rule" && answer.params["index"] !== place)) {
    return { key: `five_towers.code.${answer.code}`, params: answer.params };
  }
  return { key: "card" in step ? "five_towers.why.dead_end" : "five_towers.why.demolish_never", params: {} };
}

function readChoice(parameters: Document, effect: Document): Choice {
  const cards = (parameters["cards"] as string[]).map(cardOf);
  const demolish = parameters["demolish"];
  const score = effect["score"];
  return {
    chains: chainsOf(cards),
    size: cards.length,
    demolish: typeof demolish === "string" ? (demolish as Kind) : null,
    score: typeof score === "number" ? score : null,
  };
}

function chainsOf(cards: readonly Card[]): Record<Kind, number[]> {
  const chains: Record<Kind, number[]> = { candy: [], spooky: [], tree: [], scrap: [], sand: [] };
  for (const card of cards) chains[card.kind].push(card.value);
  return chains;
}

function begins(whole: readonly number[], start: readonly number[]): boolean {
  return start.length <= whole.length && start.every((value, index) => whole[index] === value);
}
