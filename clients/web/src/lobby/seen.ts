/** The person's games as this browser saw them last. */
import type { MyRoom } from "towerhall-client";

import { isMap, keep, kept } from "../app/kept";

interface Seen {
  /** Of the person whose games they are. */
  id: string;
  rooms: readonly MyRoom[];
}

export function seenBy(id: string | undefined): readonly MyRoom[] {
  const seen = kept<Seen>("mine", { id: "", rooms: [] }, isSeen);
  return seen.id === id ? seen.rooms : [];
}

export function see(id: string, rooms: readonly MyRoom[]): void {
  keep("mine", { id, rooms });
}

function isSeen(value: unknown): value is Seen {
  return isMap(value) && typeof value["id"] === "string" && Array.isArray(value["rooms"]) && value["rooms"].every(isRoom);
}

function isRoom(room: unknown): room is MyRoom {
  return isMap(room) && ["code", "game", "status"].every((name) => typeof room[name] === "string") && Array.isArray(room["names"]);
}
