/** All that can be checked about a record: what every game has, and what this game's draws mean. */
import { verifyShuffle, type Check, type Document, type GameRecord, type Value } from "towerhall-client";

import { loadGame } from "../games";

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
      return Object.fromEntries((dealt?.seats ?? []).map((seat, index) => [`${index} ${seat.name}`, seat.nonce ? [seat.nonce_hash ?? "", "←", seat.nonce] : "–"]));
    case "chain":
      return { seal: record.seal };
    default:
      return {};
  }
}

/** What a check was judged by, as lines: names and values, one below the other. */
export function linesOf(detail: Document): [name: string, value: string][] {
  return Object.entries(detail).flatMap(([name, value]): [string, string][] =>
    isDocument(value) ? linesOf(value).map(([inner, text]) => [`${name}.${inner}`, text]) : [[name, spelt(value)]],
  );
}

function isDocument(value: Value): value is Document {
  return typeof value === "object" && !Array.isArray(value);
}

function spelt(value: Value): string {
  if (Array.isArray(value)) return value.map((item) => (typeof item === "object" ? JSON.stringify(item) : String(item))).join(" ");
  return String(value);
}
