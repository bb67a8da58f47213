/** What a call would mean, or why it is not offered, before it is pressed: for a person's first game. */
import type { Said } from "../..";
import { mayBid, type Calls } from "./calls";
import { leading, type Game } from "./game";

/** About a bid of that number; below 0 about a pass. */
export function tipOf(game: Game, calls: Calls, seat: number | null, number: number): Said {
  const about = (key: string, params: Said["params"] = {}): Said => ({ key: `five_towers.${key}`, params });
  if (number < 0) return calls.pass ? about("tip.pass") : about("code.start_player_must_bid");
  if (mayBid(calls, number)) {
    if (number === 0) return about("tip.bid_none");
    return about(number === game.display.length ? "tip.bid_all" : "tip.bid", { n: number });
  }
  const highest = leading(game)?.number ?? -1;
  const limit = seat === null ? undefined : game.limits.get(seat);
  if (number <= highest) return about("code.bid_too_low", { highest });
  if (limit !== undefined && number >= limit) return about("code.bid_not_lowered", { limit });
  return calls.bid ? about("code.bid_infeasible", { most: calls.bid[1] }) : about("hint.must_pass");
}
