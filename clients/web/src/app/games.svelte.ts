/** The words of games, in the language of the page, joined to those of the page once a game is spoken of. */
import { loadGame } from "../games";
import { currentLanguage, join, type Language } from "../words/index.svelte";

const known = new Map<string, Language>();

/** Make sure that the words of a game are there. Without a folder for the game there are none. */
export async function knowGame(name: string): Promise<void> {
  const language = currentLanguage();
  if (known.get(name) === language) return;
  const game = await loadGame(name);
  if (!game) return;
  join(await game.words(language));
  known.set(name, language);
}
