/** All that can be checked about a record: what every game has, and what this game's draws mean; and that in words. */
import { verifyShuffle, type Check, type Document, type GameRecord, type Value } from "towerhall-client";

import { loadGame } from "../games";
import { closedText } from "../room/closed";
import { nameOf } from "../room/view";
import { t, word } from "../words/index.svelte";

export async function checksOf(record: GameRecord): Promise<Check[]> {
  const found = await verifyShuffle(record);
  const checks = found.map((check) => ({ ...check, detail: { ...check.detail, ...evidence(record, check.name) } }));
  const game = await loadGame(record.game);
  return game?.checkDraws ? [...checks, await game.checkDraws(record)] : checks;
}

/** The hashes themselves, for whoever wants to compute them by other means. */
function evidence(record: GameRecord, name: string): Document {
  const dealt = record.proof.deals.findLast((deal) => deal.outcome === "dealt");
  switch (name) {
    case "commitment":
      return { uid: record.uid };
    case "nonces":
      return Object.fromEntries((dealt?.seats ?? []).map((seat, at) => [`${at + 1}: ${nameOf(seat, at)}`, seat.nonce ? [seat.nonce_hash ?? "", "←", seat.nonce] : "–"]));
    case "chain":
      return { seal: record.seal };
    default:
      return {};
  }
}

/** Places in a record, each told by its number. */
const PLACES = ["commit", "frame", "deal", "seat", "draw"] as const;
/** Seats are counted from 0 in records and from 1 at tables. */
const SEATS: readonly string[] = ["seat", "seats", "start"];
/** Details whose values are names of others. */
const NAMING: readonly string[] = ["part", "faults"];

/** What a check was judged by, as lines of name and value in the language of the page. */
export function linesOf(detail: Document): [name: string, value: string][] {
  return Object.entries(detail).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value) && value.length === 0) return [];
    if (!isDocument(value)) return [[labelOf(name), spelt(name, value)]];
    return name === "where" ? [[labelOf(name), placeOf(value)]] : linesOf(value);
  });
}

/** Where something is wrong: "move 12", "deal 1, seat 2". */
function placeOf(where: Document): string {
  return Object.entries(where)
    .map(([name, value]) => {
      const place = PLACES.find((each) => each === name);
      return place ? t(`proof.where.${place}`, { number: spelt(name, value) }) : spelt(name, value);
    })
    .join(", ");
}

function labelOf(name: string): string {
  return word(`proof.detail.${name}`) ?? name;
}

function spelt(name: string, value: Value): string {
  if (Array.isArray(value)) return value.map((item) => spelt(name, item)).join(" ");
  if (typeof value === "object") return JSON.stringify(value);
  if (NAMING.includes(name)) return labelOf(String(value));
  if (name === "closed") return closedText(String(value));
  return String(typeof value === "number" && SEATS.includes(name) ? value + 1 : value);
}

function isDocument(value: Value): value is Document {
  return typeof value === "object" && !Array.isArray(value);
}
