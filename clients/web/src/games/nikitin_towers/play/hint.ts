/** The next action, as a key of the catalogue: the one line that always stands over the board. */
import { nameOf, sayOf, type Said } from "../../said";
import type { Game } from "./game";
import { blockName } from "./say";

export interface Situation {
  game: Game;
  seat: number | null;
  names: readonly string[];
  /** Whether this seat may act now. */
  mayAct: boolean;
}

export function hintOf({ game, seat, names, mayAct }: Situation): Said {
  const key = (name: string, params: Said["params"] = {}): Said => ({ key: `nikitin_towers.hint.${name}`, params });
  if (game.phase === "over" || game.turn === null) return key("over");
  const telling = { names, seat };
  const actor = game.toAct ?? game.turn;
  const of = (name: string, params: Said["params"] = {}): Said => sayOf(actor, telling, `nikitin_towers.hint.${name}`, params);
  const block = blockName(game.block);
  const mine = mayAct && game.toAct === seat;
  if (game.phase === "roll") return mine ? key("roll") : of("wait_roll");
  if (game.phase === "place") return mine ? key("place", { block }) : of("wait_place", { block });
  const builder = nameOf(game.turn, telling);
  if (mine) return key("choose", { name: builder, n: game.size });
  return game.turn === seat && actor !== seat ? key("wait_choose_mine", { name: nameOf(actor, telling), n: game.size }) : of("wait_choose", { other: builder, n: game.size });
}
