/** Who is heard in a room. */
import type { Table, TableEvent } from "towerhall-client";
import { expect, it } from "vitest";

import { Talk } from "../src/room/talk.svelte";

function line(who: string, number: number): TableEvent {
  return { kind: "chat", id: `${number}-0`, name: "Ben", seat: 1, text: `line ${number}`, wallMs: number, who };
}

it("leaves out lines and reactions of blocked people, before and after the block", () => {
  const talk = new Talk({ seat: 0, you: "me" } as Table, "QJXKZB");
  for (const event of [line("ben", 1), line("cyd", 2)]) talk.hear(event);
  talk.hear({ kind: "emote", name: "Ben", seat: 1, emote: "wow", who: "ben" });
  expect([talk.heard.length, talk.unread, talk.emotes.length]).toEqual([2, 2, 1]);
  talk.block(["ben"]);
  talk.hear(line("ben", 3));
  talk.hear({ kind: "emote", name: "Ben", seat: 1, emote: "hello", who: "ben" });
  expect(talk.heard.map(({ text }) => text)).toEqual(["line 2"]);
  expect([talk.unread, talk.emotes.length]).toEqual([1, 0]);
  talk.toggleMute("cyd", "Cyd");
  expect(talk.heard).toEqual([]);
  talk.toggleMute("ben", "Ben");
  talk.toggleMute("ben", "Ben");
  expect(talk.heard, "to mute no longer does not end a block").toEqual([]);
});
