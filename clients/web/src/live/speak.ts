/** The words of games at play. They are loaded with their pictures, which most visits of a page do not need. */
import { currentLanguage, join, word, type Catalogue, type Language, type Params } from "../words/index.svelte";
import type en from "./words/en";

export type LiveKey = keyof typeof en;

const files = import.meta.glob<{ default: Catalogue }>("./words/*.ts");

export async function knowLive(language: Language = currentLanguage()): Promise<void> {
  const load = files[`./words/${language}.ts`] ?? files["./words/en.ts"]!;
  join((await load()).default);
}

export function liveText(key: LiveKey, params: Params = {}): string {
  return word(key, params) ?? "";
}
