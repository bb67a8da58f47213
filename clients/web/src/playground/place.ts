/** The place of a client in a room, and what each message makes of it. Nothing here is sent or shown. */
import { mergePatch, type Cursor, type Document, type Offer } from "towerhall-client";

export interface Place {
  cursor: Cursor | null;
  view: Document;
  offers: readonly Offer[];
  tag: string;
  seat: number | null;
}

export const NOWHERE: Place = { cursor: null, view: {}, offers: [], tag: "", seat: null };

/** The place after a message of the server. The playground trusts its server: it is a tool to look at it. */
export function after(place: Place, message: unknown): Place {
  if (!Array.isArray(message)) return place;
  const [name, ...fields] = message as [unknown, ...never[]];
  switch (name) {
    case "welcome": {
      const { cursor, view, seat } = fields[0] as unknown as { cursor: Cursor; view?: Document; seat?: number };
      return { ...NOWHERE, cursor, view: view ?? place.view, seat: seat ?? null };
    }
    case "reset":
      return { ...NOWHERE, cursor: fields[0]!, view: fields[1]!, seat: place.seat };
    case "frame": {
      const [seq, mark, , , patch] = fields as unknown as [number, string, unknown, unknown, Document];
      const cursor: Cursor | null = place.cursor && [place.cursor[0], seq, mark];
      const moved = { ...place, cursor, view: mergePatch(place.view, patch) };
      return Object.hasOwn(patch, "game") ? { ...moved, offers: [], tag: "" } : moved;
    }
    case "offers":
      return { ...place, tag: fields[1]!, offers: fields[2]! };
    case "seat":
      return { ...place, seat: fields[0]! < 0 ? null : fields[0]!, offers: [], tag: "" };
    default:
      return place;
  }
}
