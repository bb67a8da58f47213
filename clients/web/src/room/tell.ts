/** Facts in words: the room's facts in words of the page, the game's in its own. */
import type { Document, Fact } from "towerhall-client";

import type { GameUi } from "../games";
import { levelWord } from "../lobby/options";
import { factText } from "../words/identifiers";
import { word } from "../words/index.svelte";
import { sayRoom, type Cast } from "./say";

/**
 * A sentence, or null if the log leaves the fact out. `game` is null if this page has no folder for the game: then its facts
 * are told by their names and fields. It is undefined while the folder is loading: then they are left out.
 */
export function tell(fact: Fact, game: GameUi | null | undefined, view: Document, cast: Cast): string | null {
  const ofRoom = sayRoom(fact, cast);
  if (ofRoom === undefined && game === null) return factText(fact);
  const said = ofRoom === undefined ? game?.say(fact, { view, names: cast.names, seat: cast.seat }) : ofRoom;
  if (!said) return null;
  const level = said.params["level"];
  return word(said.key, typeof level === "string" ? { ...said.params, level: levelWord(level) } : said.params);
}

/** The one fact of a commit that people who hear the game are told: what the game finds weightiest, else the first that has words. */
export function headline(facts: readonly Fact[], game: GameUi | null | undefined, view: Document, cast: Cast): string | null {
  const weighty = (game?.headlines ?? []).flatMap((name) => facts.filter((fact) => fact[0] === name).slice(-1));
  for (const fact of [...weighty, ...facts]) {
    const text = tell(fact, game, view, cast);
    if (text) return text;
  }
  return null;
}
