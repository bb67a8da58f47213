/** Each language by its own name: people who cannot read the page find theirs. */
import type { Language } from "./index.svelte";

export const OWN_NAMES: Record<Language, string> = { en: "English", de: "Deutsch", bg: "Български", es: "Español", fr: "Français", it: "Italiano", nl: "Nederlands" };
