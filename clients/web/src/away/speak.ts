/** The words about being told while away. They are loaded with what says them. */
import { currentLanguage, join, word, type Catalogue, type Params } from "../words/index.svelte";
import type en from "./words/en";

export type AwayKey = keyof typeof en;

const files = import.meta.glob<{ default: Catalogue }>("./words/*.ts");

export async function knowAway(): Promise<void> {
  const load = files[`./words/${currentLanguage()}.ts`] ?? files["./words/en.ts"]!;
  join((await load()).default);
}

export function awayText(key: AwayKey, params: Params = {}): string {
  return word(key, params) ?? "";
}
