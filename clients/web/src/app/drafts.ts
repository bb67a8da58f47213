/** Half-made moves, kept on this device: a reload finds them, as long as the same move of the same room is to be made. */
import type { Document } from "towerhall-client";

import { isMap, keep, kept } from "./kept";

const MOST_ROOMS = 8;

interface Draft {
  move: string;
  made: unknown;
}

/** What was begun of that move, or undefined. The caller checks its form: it may be of an older page. */
export function draftOf(view: Document, move: string): unknown {
  const draft = drafts()[uidOf(view)];
  return draft?.move === move ? draft.made : undefined;
}

/** Keep what was begun. An older move of the room is forgotten. */
export function keepDraft(view: Document, move: string, made: unknown): void {
  const uid = uidOf(view);
  const others = Object.entries(drafts()).filter(([each]) => each !== uid);
  keep("drafts", { ...Object.fromEntries(others.slice(1 - MOST_ROOMS)), [uid]: { move, made } });
}

function drafts(): Record<string, Draft> {
  return kept("drafts", {}, (value): value is Record<string, Draft> => isMap(value) && Object.values(value).every((each) => isMap(each) && typeof each["move"] === "string"));
}

/** Codes may be used again, ids never. */
function uidOf(view: Document): string {
  const room = view["room"];
  return isMap(room) ? String(room["uid"]) : "";
}
