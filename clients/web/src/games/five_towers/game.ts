/** Five Towers as the page draws it. */
import type { GameUi } from "..";
import type { Catalogue, Language } from "../../words/index.svelte";
import type { RulesText } from "..";
import { momentsOf } from "./play/moments";
import { HEADLINES, say } from "./play/say";
import LaterResult from "./LaterResult.svelte";
import Table from "./Table.svelte";

const words = import.meta.glob<{ default: Catalogue }>("./words/*.ts");
const rules = import.meta.glob<{ default: RulesText }>("./rules/*.ts");

async function spoken<T>(files: Record<string, () => Promise<{ default: T }>>, folder: string, language: Language): Promise<T> {
  const load = files[`./${folder}/${language}.ts`] ?? files[`./${folder}/en.ts`]!;
  return (await load()).default;
}

const game: GameUi = {
  Table,
  Result: LaterResult,
  words: (language) => spoken(words, "words", language),
  rules: async (language) => {
    const [sections, { default: Figure }] = await Promise.all([spoken(rules, "rules", language), import("./Figure.svelte")]);
    return { sections, Figure };
  },
  say,
  headlines: HEADLINES,
  moments: momentsOf,
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
  checkDraws: async (record) => (await import("./draws")).checkDraws(record),
};
export default game;
