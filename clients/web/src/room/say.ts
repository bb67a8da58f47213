/** The events of the room, as keys of the catalogue. Each game words its own events. */
import type { Fact } from "towerhall-client";

import { sayOf, type Said } from "../games/said";
import { t, type Params } from "../words/index.svelte";
import { peopleOf, seatOf, type RoomView } from "./view";

/** Who is meant by the seats and ids of a fact, and which of them is the viewer. */
export interface Cast {
  /** Names by seat. */
  names: readonly string[];
  /** Names by id. */
  people: ReadonlyMap<string, string>;
  /** The viewer's seat, or null. */
  seat: number | null;
  /** The viewer's id in the room, or "". */
  you: string;
}

/** The cast of one moment, or of a change: a person who leaves is in the room before, a person who arrives in the room after. */
export function castOf(names: readonly string[], you: string, room: RoomView | null, before: RoomView | null = null): Cast {
  const people = new Map([...peopleOf(before), ...peopleOf(room)]);
  return { names, people, seat: seatOf(room, you) ?? seatOf(before, you), you };
}

/** Facts of the room (P-32) that the log leaves out. */
const SILENT: readonly string[] = ["dealt", "nonce_opened", "seat_woke", "secret_revealed"];

/** The words for a fact of the room (P-32); null if the log leaves it out; undefined if the fact is the game's. */
export function sayRoom([name, first, second]: Fact, cast: Cast): Said | null | undefined {
  const say = (params: Params, key = `log.${name}`): Said => ({ key, params });
  const bySeat = (params: Params = {}, key = `log.${name}`): Said => sayOf(first, cast, key, params);
  /** About a person by id; whose name is not known, the log does not speak of. */
  const byId = (key: string): Said | null => {
    if (first === cast.you) return say({}, `${key}.you`);
    const person = cast.people.get(String(first));
    return person === undefined ? null : say({ name: person }, key);
  };
  switch (name) {
    case "room_created":
    case "options_changed":
    case "sealed":
    case "game_over":
      return say({});
    case "room_closed":
      // The resignation before it says all.
      return first === "resigned" ? null : say({});
    case "person_renamed":
      return bySeat({ number: Number(first) + 1, name: String(second) });
    case "person_sat":
      // Another person may have had this seat before.
      return second === cast.names[Number(first)] ? bySeat() : say({ name: String(second) });
    case "bot_sat":
      return say({ number: Number(first) + 1, level: String(second) });
    case "seat_left":
    case "seat_kicked":
    case "host_passed":
    case "bot_account_marked":
    case "timed_out":
    case "seat_taken_back":
    case "seat_resigned":
      return bySeat();
    case "person_admitted":
      return byId("log.person_admitted");
    case "person_invited":
      return byId("log.person_invited");
    case "person_muted":
      return byId(second ? "log.person_muted" : "log.person_unmuted");
    case "bot_stood_in":
      return bySeat({ level: String(second) });
    case "seat_ready":
      return bySeat({}, second ? "log.seat_ready" : "log.seat_unready");
    case "end_wanted":
      return bySeat({}, second ? "log.end_wanted" : "log.end_unwanted");
    case "deal_cancelled":
      return say({ names: Array.isArray(second) ? second.map((seat) => (seat === cast.seat ? t("room.you") : cast.names[Number(seat)] || "?")).join(", ") : "" });
    case "rematch_made":
      return say({ code: String(first) });
    default:
      return SILENT.includes(name) ? null : undefined;
  }
}
