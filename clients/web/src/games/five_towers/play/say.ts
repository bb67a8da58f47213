/** The worded log of Five Towers: each fact (FT 14) as a key of the catalogue and its parameters. */
import type { Document, Fact, Value } from "towerhall-client";

import { word } from "../../../words/index.svelte";
import type { Said } from "../..";
import { cardOf, type Kind } from "./cards";

export function kindName(kind: Kind): string {
  return word(`five_towers.kind.${kind}`) ?? kind;
}

/** `Sand 7`. */
export function cardName(id: string): string {
  const { kind, value } = cardOf(id);
  return word("five_towers.card", { kind: kindName(kind), value }) ?? id;
}

function cardNames(cards: Value | undefined): string {
  return Array.isArray(cards) ? cards.map((id) => cardName(String(id))).join(", ") : "";
}

export function say([fact, ...fields]: Fact, { names }: { view: Document; names: string[] }): Said | null {
  const name = (seat: Value | undefined) => names[Number(seat)] ?? `#${Number(seat) + 1}`;
  const [first, second, third] = fields;
  const size = Array.isArray(first) ? first.length : 0;
  switch (fact) {
    case "game_started":
      return { key: "log.game_started", params: { n: Number(third), name: name(fields[3]) } };
    case "round_started":
      return { key: "log.round_started", params: { round: Number(first), cards: cardNames(third) } };
    case "bid_made":
      return { key: third === true ? "log.bid_made_forced" : "log.bid_made", params: { name: name(first), n: Number(second) } };
    case "passed":
      return { key: second === true ? "log.passed_forced" : "log.passed", params: { name: name(first) } };
    case "auction_won":
    case "bid_withdrawn":
      return { key: `log.${fact}`, params: { name: name(first), n: Number(second) } };
    case "auction_empty":
      return { key: "log.auction_empty", params: {} };
    case "cards_taken":
      return { key: "log.cards_taken", params: { name: name(first), cards: cardNames(second) } };
    case "card_demolished":
      return { key: "log.card_demolished", params: { name: name(first), card: cardName(String(second)), n: Number(third) } };
    case "card_built":
      return spire(name(first), String(second));
    case "display_cleared":
      return size ? { key: "log.display_cleared", params: { cards: cardNames(first) } } : null;
    case "pile_reshuffled":
      return { key: first === 0 ? "log.pile_empty" : "log.pile_reshuffled", params: { n: Number(first) } };
    case "game_ended":
      return ended(first, second, name);
    default:
      return null;
  }
}

/** What was built is told with the cards that were taken; only a finished tower is worth an entry of its own. */
function spire(name: string, id: string): Said | null {
  const { kind, value } = cardOf(id);
  return value === 0 ? { key: "log.spire_built", params: { name, kind: kindName(kind) } } : null;
}

function ended(scores: Value | undefined, winners: Value | undefined, name: (seat: Value | undefined) => string): Said | null {
  if (!Array.isArray(scores) || !Array.isArray(winners)) return null;
  const best = scores[Number(winners[0])] as Document | undefined;
  const params = { name: winners.map(name).join(", "), n: Number(best?.["total"] ?? 0) };
  return { key: winners.length > 1 ? "log.game_ended_shared" : "log.game_ended", params };
}
