/** The name of the game. Lists of rooms need it before anything else of the game is loaded. */
import type { Language } from "../../words/index.svelte";

export default {
  en: "Five Towers",
  de: "Fünf Türme",
  bg: "Пет кули",
  es: "Cinco Torres",
  fr: "Cinq Tours",
  it: "Cinque Torri",
  nl: "Vijf Torens",
} satisfies Record<Language, string>;
