/** Nikitin Towers as the page draws it. */
import type { GameUi, RulesText } from "..";
import type { Catalogue, Language } from "../../words/index.svelte";
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
    { key: "1–9", does: "nikitin_towers.key.choose" },
    { key: "← ↑ → ↓", does: "nikitin_towers.key.move" },
    { key: "R", does: "nikitin_towers.key.turn" },
    { key: "T", does: "nikitin_towers.key.tip" },
    { key: "F", does: "nikitin_towers.key.roll" },
    { key: "Enter", does: "nikitin_towers.key.place" },
    { key: "B", does: "nikitin_towers.key.back" },
    { key: "Shift ← ↑ → ↓", does: "nikitin_towers.key.look" },
    { key: "+ −", does: "nikitin_towers.key.zoom" },
    { key: "0", does: "nikitin_towers.key.all" },
    { key: "V", does: "nikitin_towers.key.swap" },
  ],
  checkDraws: async (record) => (await import("./draws")).checkDraws(record),
};
export default game;
