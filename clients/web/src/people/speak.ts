/** The words of the pages about people, loaded with them. */
import { join, word, type Catalogue, type Language, type Params } from "../words/index.svelte";
import type en from "./words/en";

const words = import.meta.glob<{ default: Catalogue }>("./words/*.ts");

export async function knowPeople(language: Language): Promise<void> {
  const load = words[`./words/${language}.ts`];
  if (load) join((await load()).default);
}

export function peopleText(key: keyof typeof en, params: Params = {}): string {
  return word(key, params) ?? key;
}
