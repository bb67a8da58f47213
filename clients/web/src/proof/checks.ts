/** All that can be checked about a record: what every game has, and what this game's draws mean; and that in words. */
import { compare, keptEvidence, checkRecord, type Check, type Difference, type Document, type GameRecord, type Keep, type Keys, type Value } from "towerhall-client";

import { loadGame } from "../games";
import { closedText } from "../room/closed";
import { nameOf } from "../room/view";
import { word } from "../words/index.svelte";
import { proofText } from "./speak";

/** A check, and the game whose own it is; without one, every record has it. */
export interface ShownCheck extends Check {
  game?: string;
}

export async function checksOf(record: GameRecord, keys: Keys = {}, keep: Keep | null = null): Promise<ShownCheck[]> {
  const found = await checkRecord(record, { keys, evidence: keptEvidence(record.uid, keep) });
  const checks = found.map((check) => ({ ...check, detail: { ...check.detail, ...hashesOf(record, check.name) } }));
  const game = await loadGame(record.game);
  return game?.checkDraws ? [...checks, { ...(await game.checkDraws(record)), game: record.game }] : checks;
}

/** What this device saw otherwise, in words. */
export function warningsOf(record: GameRecord, keep: Keep | null): string[] {
  const evidence = keptEvidence(record.uid, keep);
  const found = evidence ? compare(evidence, record) : [];
  // Only the first place of each kind is told: the others follow from it.
  const first = new Map<Difference["code"], Difference>(found.toReversed().map((each) => [each.code, each]));
  return [...first.values()].toReversed().map(({ code, at }) => proofText(`proof.differs.${code}`, { number: at }));
}

/** What the checks have shown, as a key. Only the game itself can tie the draws to what players were shown. */
export function verdictOf(checks: readonly ShownCheck[]): "proof.bad" | "proof.unlike" | "proof.good.shown" | "proof.good.seed" {
  if (checks.some(({ name, ok }) => name === "seen" && !ok)) return "proof.unlike";
  if (checks.some((check) => !check.ok)) return "proof.bad";
  return checks.some((check) => check.game !== undefined) ? "proof.good.shown" : "proof.good.seed";
}

/** The words for a check of the page or of a game; `part` is "" for its name, ".about" for what was checked, or was not. */
export function checkWord({ name, game, skipped }: ShownCheck, part: "" | ".about"): string {
  if (skipped && part) return word(`proof.skipped.${skipped}`) ?? "";
  return word(`${game === undefined ? "" : `${game}.`}proof.${name}${part}`) ?? (part ? "" : name);
}

/** The hashes themselves, for readers who compute them by other means. */
function hashesOf(record: GameRecord, name: string): Document {
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
const SEATS: readonly string[] = ["seat", "seats"];
/** Details whose values are names of others. */
const NAMING: readonly string[] = ["part", "faults"];

/** What a check was judged by, as lines of name and value in the language of the page. */
export function linesOf(detail: Document, game = ""): [name: string, value: string][] {
  return Object.entries(detail).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value) && value.length === 0) return [];
    if (!isDocument(value)) return [[labelOf(name, game), spelt(name, value, game)]];
    return name === "where" ? [[labelOf(name, game), placeOf(value, game)]] : linesOf(value, game);
  });
}

/** Where something is wrong: "move 12", "deal 1, seat 2". */
function placeOf(where: Document, game: string): string {
  return Object.entries(where)
    .map(([name, value]) => {
      const place = PLACES.find((each) => each === name);
      const text = spelt(name, value, game);
      return place ? proofText(`proof.where.${place}`, { number: text }) : text;
    })
    .join(", ");
}

function labelOf(name: string, game: string): string {
  return word(`${game}.proof.detail.${name}`) ?? word(`proof.detail.${name}`) ?? name;
}

function spelt(name: string, value: Value, game: string): string {
  if (Array.isArray(value)) return value.map((item) => spelt(name, item, game)).join(" ");
  if (typeof value === "object") return JSON.stringify(value);
  if (NAMING.includes(name)) return labelOf(String(value), game);
  if (name === "closed") return closedText(String(value));
  return String(typeof value === "number" && SEATS.includes(name) ? value + 1 : value);
}

function isDocument(value: Value): value is Document {
  return typeof value === "object" && !Array.isArray(value);
}
