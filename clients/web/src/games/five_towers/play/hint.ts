/** The next action, as a key of the catalogue: the one line that always stands over the table. */
import { sayOf, type Said } from "../../said";
import type { Calls } from "./calls";
import { leading, PASS, type Game } from "./game";

export interface Situation {
  game: Game;
  seat: number | null;
  names: readonly string[];
  calls: Calls | null;
  /** Cards that are still to be chosen; null unless this seat builds. */
  missing: number | null;
  /** The number that waits to be said again; -1 is a pass. */
  armed: number | null;
}

export function hintOf({ game, seat, names, calls, missing, armed }: Situation): Said {
  if (game.phase === "over" || game.turn === null) return { key: "five_towers.hint.over", params: {} };
  if (game.phase === "build") {
    if (missing === null) return sayOf(game.turn, { names, seat }, "five_towers.hint.wait_build", { n: leading(game)?.number ?? 0 });
    return missing > 0 ? { key: "five_towers.hint.pick", params: { n: missing } } : { key: "five_towers.hint.ready", params: {} };
  }
  // A pass that the game made for this player leaves no other trace than this.
  if (!calls && seat !== null && game.calls.get(seat) === PASS) return sayOf(game.turn, { names, seat: null }, "five_towers.hint.wait_bid.out");
  if (!calls) return sayOf(game.turn, { names, seat }, "five_towers.hint.wait_bid");
  if (armed !== null) return armed < 0 ? { key: "five_towers.pass.confirm", params: {} } : { key: "five_towers.hint.confirm", params: { n: armed } };
  if (!calls.bid) return { key: "five_towers.hint.must_pass", params: {} };
  return { key: seat === game.start ? "five_towers.hint.bid_start" : "five_towers.hint.bid", params: {} };
}
