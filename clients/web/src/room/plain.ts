/** Any game as text: what its offers spell, and its view. No word of any game. */
import type { Command, Document, Offer } from "towerhall-client";

import { readable, valueText } from "../words/identifiers";

/** One choice of an offer: parameters that go together, and what is known to follow. */
export interface Pick {
  params: Document;
  effect: Document;
}

/** Offers of one command that ask for the same numbers. A person fills in one form for all of them. */
export interface Form {
  command: string;
  /** Names of the numbers to be set. */
  numbers: string[];
  /** Every choice of any of the offers, once. */
  picks: Pick[];
  offers: Offer[];
  unsure: boolean;
}

const NO_CHOICE: [Document, Document][] = [[{}, {}]];

export function formsOf(offers: readonly Offer[]): Form[] {
  const forms = new Map<string, Form & { known: Set<string> }>();
  for (const offer of offers) {
    const numbers = Object.keys(offer.ranges ?? {}).sort();
    const key = JSON.stringify([offer.command, numbers]);
    const form = forms.get(key) ?? { command: offer.command, numbers, picks: [], offers: [], unsure: false, known: new Set() };
    forms.set(key, form);
    form.offers.push(offer);
    form.unsure ||= offer.unsure ?? false;
    for (const [params, effect] of offer.choices ?? NO_CHOICE) {
      const spelt = JSON.stringify(params);
      if (!form.known.has(spelt)) form.picks.push({ params, effect });
      form.known.add(spelt);
    }
  }
  return [...forms.values()].map(({ known: _, ...form }) => form);
}

/** The ranges that go with a choice: one map for each offer that has it. */
export function rangesOf(form: Form, pick: Pick): Record<string, [least: number, most: number]>[] {
  const wanted = JSON.stringify(pick.params);
  const fitting = form.offers.filter((offer) => (offer.choices ?? NO_CHOICE).some(([params]) => JSON.stringify(params) === wanted));
  return fitting.map((offer) => offer.ranges ?? {});
}

/** The least and the most that a number may be with that choice, whatever the other numbers are. */
export function bounds(form: Form, pick: Pick, name: string): [least: number, most: number] {
  const ranges = rangesOf(form, pick).map((each) => each[name]!);
  return [Math.min(...ranges.map(([least]) => least)), Math.max(...ranges.map(([, most]) => most))];
}

/** The command that the choice and the numbers spell (P-38), or null if no offer spells it. */
export function commandOf(form: Form, pick: Pick, numbers: Record<string, number>): Command | null {
  const fits = rangesOf(form, pick).some((ranges) => Object.entries(ranges).every(([name, [least, most]]) => isWithin(numbers[name], least, most)));
  if (!fits) return null;
  const set = Object.fromEntries(form.numbers.map((name) => [name, numbers[name]!]));
  return { ...pick.params, ...set, command: form.command };
}

function isWithin(number: number | undefined, least: number, most: number): boolean {
  return number !== undefined && Number.isInteger(number) && least <= number && number <= most;
}

/** The ranges of a choice as text: "x 0 – 2, y -1 – 1; x 3, y 0". */
export function rangesText(form: Form, pick: Pick): string {
  const spelt = rangesOf(form, pick).map((ranges) => form.numbers.map((name) => `${readable(name)} ${span(ranges[name]!)}`).join(", "));
  return [...new Set(spelt)].join("; ");
}

function span([least, most]: [number, number]): string {
  return least === most ? String(least) : `${least} – ${most}`;
}

/** A choice as text: its values, and in brackets what is known to follow. */
export function pickText({ params, effect }: Pick): string {
  const values = Object.values(params).map(valueText).join(", ");
  const known = Object.entries(effect).map(([name, value]) => `${readable(name)} ${valueText(value)}`).join(", ");
  return known ? `${values} (${known})`.trim() : values;
}

/** A document as lines of name and value, indented by depth. */
export function outline(value: Document, depth = 0): string {
  return Object.entries(value)
    .map(([name, each]) => {
      const head = `${"  ".repeat(depth)}${readable(name)}:`;
      const isDeep = typeof each === "object" && !Array.isArray(each) && Object.values(each).some((inner) => typeof inner === "object");
      return isDeep ? `${head}\n${outline(each as Document, depth + 1)}` : `${head} ${valueText(each)}`;
    })
    .join("\n");
}
