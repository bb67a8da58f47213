/** Identifiers of games that this page has no words for, made readable. */
import type { Fact, Value } from "towerhall-client";

/** "die_rolled" is "Die rolled". */
export function sentence(identifier: string): string {
  const text = readable(identifier);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function readable(identifier: string): string {
  return identifier.replaceAll("_", " ");
}

/** A fact of a game that has no words here: "Die rolled: 1, 5". */
export function factText([name, ...fields]: Fact): string {
  const told = fields.map(valueText).filter(Boolean).join(", ");
  return told ? `${sentence(name)}: ${told}` : sentence(name);
}

export function valueText(value: Value): string {
  if (Array.isArray(value)) return value.map((each) => (typeof each === "object" ? `(${valueText(each)})` : String(each))).join(", ");
  if (typeof value === "object") return Object.entries(value).map(([name, each]) => `${readable(name)} ${valueText(each)}`).join(", ");
  return String(value);
}
