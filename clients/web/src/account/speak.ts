/** The words of accounts. They are loaded with the dialog, because most visits of the page see none. */
import { currentLanguage, join, word, type Catalogue, type Language, type Params } from "../words/index.svelte";
import type en from "./words/en";

export type AccountKey = keyof typeof en;

const files = import.meta.glob<{ default: Catalogue }>("./words/*.ts");

export async function knowAccount(language: Language = currentLanguage()): Promise<void> {
  const load = files[`./words/${language}.ts`] ?? files["./words/en.ts"]!;
  join((await load()).default);
}

export function accountText(key: AccountKey, params: Params = {}): string {
  return word(key, params) ?? key;
}
