/** The words of lessons, loaded with them: those of the page, and those of one game. */
import { currentLanguage, join, word, type Catalogue, type Params } from "../words/index.svelte";
import type en from "./words/en";

type Files = Record<string, () => Promise<{ default: Catalogue }>>;
const page: Files = import.meta.glob<{ default: Catalogue }>("./words/*.ts");
const games: Files = import.meta.glob<{ default: Catalogue }>("../games/*/lesson/*.ts");

export async function knowLesson(game: string): Promise<void> {
  const language = currentLanguage();
  const wanted = [page[`./words/${language}.ts`], games[`../games/${game}/lesson/${language}.ts`]];
  for (const found of await Promise.all(wanted.map((load) => load?.()))) if (found) join(found.default);
}

export function learnText(key: keyof typeof en, params: Params = {}): string {
  return word(key, params) ?? key;
}
