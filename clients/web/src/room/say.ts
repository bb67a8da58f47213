/** What happened in the room, as keys of the catalogue. What happened in the game, the game says itself. */
import type { Fact } from "towerhall-client";

import type { Params } from "../words/index.svelte";

export interface Said {
  key: string;
  params: Params;
}

/** The words for a fact of the room (P-32), or null if nobody needs to read it. */
export function sayRoom([name, first, second]: Fact, names: readonly string[]): Said | null {
  const who = (seat: unknown): string => (typeof seat === "number" && names[seat]) || "?";
  const say = (params: Params, key = `log.${name}`): Said => ({ key, params });
  switch (name) {
    case "room_created":
    case "options_changed":
    case "sealed":
    case "game_over":
    case "room_closed":
      return say({});
    case "person_sat":
      return say({ name: String(second) });
    case "bot_sat":
      return say({ number: Number(first) + 1, level: String(second) });
    case "seat_left":
    case "seat_kicked":
    case "host_passed":
    case "timed_out":
    case "seat_taken_back":
    case "seat_resigned":
      return say({ name: who(first) });
    case "bot_stood_in":
      return say({ name: who(first), level: String(second) });
    case "seat_ready":
      return say({ name: who(first) }, second ? "log.seat_ready" : "log.seat_unready");
    case "end_wanted":
      return say({ name: who(first) }, second ? "log.end_wanted" : "log.end_unwanted");
    case "deal_cancelled":
      return say({ names: Array.isArray(second) ? second.map(who).join(", ") : "" });
    case "rematch_made":
      return say({ code: String(first) });
    default:
      return null;
  }
}
