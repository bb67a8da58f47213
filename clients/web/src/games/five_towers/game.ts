/** Five Towers as the page draws it. */
import type { GameUi } from "..";
import type { Catalogue, Language } from "../../words/index.svelte";
import type { RulesText } from "..";
import { checkDraws } from "./draws";
import Figure from "./Figure.svelte";
import { say } from "./play/say";
import Result from "./Result.svelte";
import Table from "./Table.svelte";

const words = import.meta.glob<{ default: Catalogue }>("./words/*.ts");
const rules = import.meta.glob<{ default: RulesText }>("./rules/*.ts");

async function spoken<T>(files: Record<string, () => Promise<{ default: T }>>, folder: string, language: Language): Promise<T> {
  const load = files[`./${folder}/${language}.ts`] ?? files[`./${folder}/en.ts`]!;
  return (await load()).default;
}

const game: GameUi = {
  Table,
  Result,
  Figure,
  words: (language) => spoken(words, "words", language),
  rules: (language) => spoken(rules, "rules", language),
  say,
  keys: [
    { key: "0–5", does: "five_towers.key.bid" },
    { key: "P", does: "five_towers.key.pass" },
    { key: "1–5", does: "five_towers.key.pick" },
    { key: "Shift 1–5", does: "five_towers.key.demolish" },
    { key: "Backspace, Ctrl Z", does: "five_towers.key.undo" },
    { key: "B", does: "five_towers.key.build" },
    { key: "← ↑ → ↓", does: "five_towers.key.arrows" },
    { key: "Enter", does: "five_towers.key.enter" },
  ],
  checkDraws,
};
export default game;
