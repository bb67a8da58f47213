/** The worded log of Five Towers: each fact (FT 14) as a key of the catalogue and its parameters. */
import type { Document, Fact, Value } from "towerhall-client";

import { word } from "../../../words/index.svelte";
import { nameOf, sayOf, type Said, type Telling } from "../../said";
import { cardOf, type Kind } from "./cards";

/** A move is the call or the build; how an auction ends weighs more than the call that ends it. */
export const HEADLINES = ["game_ended", "bid_withdrawn", "cards_taken", "auction_won", "auction_empty", "bid_made", "passed", "game_started"] as const;

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

export function say([fact, ...fields]: Fact, telling: Telling): Said | null {
  const [first, second, third] = fields;
  const size = Array.isArray(first) ? first.length : 0;
  const key = `five_towers.log.${fact}`;
  switch (fact) {
    case "game_started":
      return sayOf(fields[3], telling, key, { n: Number(third) });
    case "round_started":
      return { key, params: { round: Number(first), cards: cardNames(third) } };
    case "bid_made":
      return sayOf(first, telling, third === true ? `${key}_forced` : key, { n: Number(second) });
    case "passed":
      return sayOf(first, telling, second === true ? `${key}_forced` : key);
    case "auction_won":
    case "bid_withdrawn":
      return sayOf(first, telling, key, { n: Number(second) });
    case "auction_empty":
      return { key, params: {} };
    case "cards_taken":
      return sayOf(first, telling, key, { cards: cardNames(second) });
    case "card_demolished":
      return sayOf(first, telling, key, { card: cardName(String(second)), n: Number(third) });
    case "card_built":
      return spire(first, String(second), telling);
    case "display_cleared":
      return size ? { key, params: { cards: cardNames(first) } } : null;
    case "pile_reshuffled":
      return { key: first === 0 ? "five_towers.log.pile_empty" : key, params: { n: Number(first) } };
    case "game_ended":
      return ended(first, second, telling);
    default:
      return null;
  }
}

/** All cards that are taken are built (FT 6); only a finished tower is worth an entry of its own. */
function spire(seat: Value | undefined, id: string, telling: Telling): Said | null {
  const { kind, value } = cardOf(id);
  return value === 0 ? sayOf(seat, telling, "five_towers.log.spire_built", { kind: kindName(kind) }) : null;
}

function ended(scores: Value | undefined, winners: Value | undefined, telling: Telling): Said | null {
  if (!Array.isArray(scores) || !Array.isArray(winners)) return null;
  const best = scores[Number(winners[0])] as Document | undefined;
  const isMine = telling.seat !== null && winners.includes(telling.seat);
  const named = winners.length > 1 ? winners.filter((seat) => seat !== telling.seat) : winners;
  const key = `five_towers.log.${winners.length > 1 ? "game_ended_shared" : "game_ended"}${isMine ? ".you" : ""}`;
  return { key, params: { name: named.map((seat) => nameOf(seat, telling)).join(", "), n: Number(best?.["total"] ?? 0) } };
}
