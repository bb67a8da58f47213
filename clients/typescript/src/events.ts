/** All that concerns one person, in all rooms, over one socket that is kept up (P-153 to P-155). */

import type { LineOptions } from "./line.ts";
import { LiveList } from "./live_list.ts";
import { LEVEL } from "./replay.ts";
import type { PersonPlace } from "./types.ts";

/** Who follows what concerns them, and where. */
export interface EventsOptions extends LineOptions {
  origin: string;
  token: string;
}

/** The places of the person with that token. It connects by itself; `state` tells how that goes. */
export function hearEvents(options: EventsOptions): Events {
  return new Events(options);
}

/** The places of one person. Made by `hearEvents`. */
export class Events extends LiveList<PersonPlace> {
  constructor(options: EventsOptions) {
    super(options.origin, "/v1/me/events", () => ["hello", { token: options.token, level: LEVEL }], options);
    this.line.connect();
  }

  /** The codes of rooms in which it is this person's turn. */
  get turns(): string[] {
    return this.#where(({ your_turn }) => your_turn);
  }

  /** The codes of rooms to which this person is invited, and has not sat down. */
  get invitations(): string[] {
    return this.#where(({ invited }) => invited);
  }

  #where(is: (place: PersonPlace) => boolean | undefined): string[] {
    return Object.entries(this.rooms).flatMap(([code, place]) => (is(place) ? [code] : []));
  }
}
