/** What happened, in words: the room's facts in words of the page, the game's in its own. */
import type { Document, Fact } from "towerhall-client";

import type { GameUi } from "../games";
import { levelWord } from "../lobby/options";
import { word } from "../words/index.svelte";
import { sayRoom } from "./say";

/** A sentence, or null if nobody needs to read about it. */
export function tell(fact: Fact, game: GameUi | null, view: Document, names: readonly string[]): string | null {
  const said = sayRoom(fact, names) ?? game?.say(fact, { view, names: [...names] });
  if (!said) return null;
  const level = said.params["level"];
  return word(said.key, typeof level === "string" ? { ...said.params, level: levelWord(level) } : said.params);
}
