/** The name of the game. Lists of rooms need it before anything else of the game is loaded. */
import type { Language } from "../../words/index.svelte";

export default {
  en: "Nikitin Towers",
  de: "Nikitin-Türme",
  bg: "Кулите на Никитин",
  es: "Torres de Nikitin",
  fr: "Tours de Nikitin",
  it: "Torri di Nikitin",
  nl: "Nikitin-torens",
} satisfies Record<Language, string>;
