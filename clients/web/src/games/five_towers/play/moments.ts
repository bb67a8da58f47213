/** The facts (FT 14) that are heard. Several cards of one frame are heard once. */
import type { Fact } from "towerhall-client";

import type { Moment } from "../../../app/notice/moments";
import { cardOf, type Kind } from "./cards";

export function momentsOf(facts: readonly Fact[]): Moment[] {
  const heard = facts.flatMap(([name, , card]): Moment[] => {
    if (name === "auction_won") return ["gavel"];
    if (name === "card_built") return [isSpire(card) ? "spire" : "card"];
    return name === "round_started" ? ["card"] : [];
  });
  return [...new Set(heard)];
}

/** Towers that these facts finish. */
export function spiresOf(facts: readonly Fact[]): { seat: number; kind: Kind }[] {
  const built = facts.filter(([name, , card]) => name === "card_built" && isSpire(card));
  return built.map(([, seat, card]) => ({ seat: Number(seat), kind: cardOf(String(card)).kind }));
}

function isSpire(card: unknown): boolean {
  return cardOf(String(card)).value === 0;
}
