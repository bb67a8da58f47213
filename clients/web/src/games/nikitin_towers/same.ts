/** Words of the game that may read as in English, and in which languages. Only tests read this. */
import type { Same } from "../../words/index.svelte";

export default [
  { reason: "letters are the same", keys: /^nikitin_towers\.block\.(D[345]|E[123])$/, languages: ["de", "es", "fr", "it", "nl"] },
  { reason: "the same in French", keys: /^nikitin_towers\.block\.(A1|B1)$/, languages: ["fr"] },
  { reason: "the same in Italian", keys: /^nikitin_towers\.block\.B1$/, languages: ["it"] },
  { reason: "the same in French", keys: /^nikitin_towers\.lean$/, languages: ["fr"] },
] satisfies Same[];
