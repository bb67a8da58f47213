/** Who sits where, as the room's part of a view says it. */
import type { Document } from "towerhall-client";

function part(document: Document, key: string): Document {
  const value = document[key];
  return typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** Names by seat; "" for a free one. */
export function namesOf(view: Document): string[] {
  const room = part(view, "room");
  const seats = part(room, "seats");
  return Array.from({ length: Number(room["size"] ?? 0) }, (_, seat) => String(part(seats, String(seat))["name"] ?? ""));
}

export function gameOf(view: Document): string {
  return String(part(view, "room")["game"] ?? "");
}
