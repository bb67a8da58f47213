/** The build that the player puts together before the command is sent. No other viewer sees it. */
import type { Answer, Command, Offer } from "towerhall-client";

import { explainRefusal } from "../../../app/explain";
import { word } from "../../../words/index.svelte";
import type { Card, Kind } from "../play/cards";
import { attempt, cardsOf, choicesOf, demolitionOf, finished, fitOf, matching, mayDemolish, readPlan, reason, scoresAfter, writePlan, type Fit, type Plan, type Step } from "../play/plan";
import { cardName, kindName } from "../play/say";

/** The planner's inputs from the board, read each time. */
export interface Planning {
  offers(): readonly Offer[];
  display(): readonly Card[];
  try(command: Command): Promise<Answer>;
  /** Keeps the plan on the device. */
  keep(plan: string[]): void;
}

export class Planner {
  readonly #board: Planning;
  #steps = $state.raw<Plan>([]);
  /** Why the last wish was impossible, in words. */
  why = $state.raw("");

  readonly choices = $derived.by(() => choicesOf(this.#board.offers()));
  /** Empty as soon as the offers do not fit it any more. */
  readonly plan = $derived<Plan>(this.choices && matching(this.choices, this.#steps).length ? this.#steps : []);
  readonly size = $derived(this.choices?.[0]?.size ?? 0);
  readonly cards = $derived(cardsOf(this.plan));
  readonly razed = $derived(demolitionOf(this.plan));
  readonly ready = $derived(this.choices !== null && finished(this.choices, this.plan) !== null);
  readonly scores = $derived(this.choices && scoresAfter(this.choices, this.plan));
  readonly full = $derived(this.cards.length === this.size);

  constructor(board: Planning) {
    this.#board = board;
  }

  fit(card: Card): Fit {
    return this.choices && !this.full ? fitOf(this.choices, this.plan, card) : "no";
  }

  /** Whether the top of that tower can be torn down now. */
  razable(kind: Kind): boolean {
    return this.choices !== null && mayDemolish(this.choices, this.plan, kind);
  }

  has(card: Card): boolean {
    return this.cards.some(({ id }) => id === card.id);
  }

  /** Chooses a card, or takes it back. */
  async pick(card: Card): Promise<void> {
    if (!this.choices) return;
    if (this.has(card)) return this.putBack(card);
    if (!this.full && this.fit(card) === "now") return this.#take({ card });
    const plan = this.plan;
    const reason = await this.reasonOf(card);
    if (plan === this.plan) this.why = reason;
  }

  /** Why the card cannot be chosen now, in words; empty if it can. */
  async reasonOf(card: Card): Promise<string> {
    if (!this.choices || this.has(card)) return "";
    if (this.full) return this.#worded("five_towers.why.enough", {});
    const fit = this.fit(card);
    if (fit === "now") return "";
    return fit === "later" ? this.#worded("five_towers.why.demolish_first", this.#wordsOf({ card })) : this.#refusalOf({ card });
  }

  /** Tears the top of a tower down, or keeps it after all. */
  async demolish(kind: Kind): Promise<void> {
    if (!this.choices) return;
    if (this.razed === kind) return this.#set(this.plan.filter((step) => "card" in step && step.card.kind !== kind));
    if (this.razed !== null) return this.#say("five_towers.why.one_demolition", {});
    if (this.razable(kind)) return this.#take({ demolish: kind });
    return this.#explain({ demolish: kind });
  }

  /** Takes a card off its tower, with those that were put on it. */
  putBack(card: Card): void {
    const from = this.plan.findIndex((step) => "card" in step && step.card.id === card.id);
    this.#set(this.plan.filter((step, index) => index < from || !("card" in step) || step.card.kind !== card.kind));
  }

  wrongTower(card: Card): void {
    this.#say("five_towers.why.own_kind", this.#wordsOf({ card }));
  }

  undo(): void {
    this.#set(this.plan.slice(0, -1));
  }

  clear(): void {
    this.#set([]);
  }

  /** The plan that was kept, or none. */
  restore(kept: unknown): void {
    this.#steps = readPlan(kept, this.#board.display());
    this.why = "";
  }

  #take(step: Step): void {
    this.#set([...this.plan, step]);
  }

  #set(steps: Plan): void {
    this.#steps = steps;
    this.#board.keep(writePlan(steps));
    this.why = "";
  }

  async #explain(step: Step): Promise<void> {
    const plan = this.plan;
    const reason = await this.#refusalOf(step);
    if (plan === this.plan) this.why = reason;
  }

  /** The answer of a dry run, in words. */
  async #refusalOf(step: Step): Promise<string> {
    const plan = this.plan;
    const answer = await this.#board.try(attempt(plan, step, this.#board.display(), this.size));
    const { key, params } = reason(plan, step, answer);
    const told = word(key, { n: this.size, ...this.#wordsOf(step), ...params });
    return told ?? (answer.kind === "rejected" ? explainRefusal(answer, "five_towers") : "");
  }

  #say(key: string, params: Record<string, string | number>): void {
    this.why = this.#worded(key, params);
  }

  #worded(key: string, params: Record<string, string | number>): string {
    return word(key, params) ?? "";
  }

  #wordsOf(step: Step): Record<string, string> {
    return "card" in step ? { card: cardName(step.card.id), kind: kindName(step.card.kind) } : { kind: kindName(step.demolish) };
  }
}
