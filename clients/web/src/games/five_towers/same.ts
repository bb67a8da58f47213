/** Words of the game that may read as in English, and in which languages. Only tests read this. */
import type { Same } from "../../words/index.svelte";

export default [
  { reason: "one letter, that of a translated kind", keys: /^five_towers\.letter\.\w+$/, languages: ["de", "es", "fr", "it", "nl"] },
  { reason: "the same in French", keys: /^five_towers\.(score|score\.short|demolish_spire\.true)$/, languages: ["fr"] },
  { reason: "the same in German", keys: /^five_towers\.(preset\.standard|kind\.sand)$/, languages: ["de"] },
  { reason: "the same in Spanish", keys: /^five_towers\.kind\.scrap$/, languages: ["es"] },
] satisfies Same[];
