/** The player's settings in this browser. */
import { LANGUAGES, preferredLanguage, speak, type Language } from "../words/index.svelte";
import { isMap, keep, kept } from "./kept";
import { MOMENTS, type Moment } from "./notice/moments";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

interface Chosen {
  theme: Theme;
  language: Language;
  confirmBids: boolean;
  sound: boolean;
  /** Moments that are not heard though there is sound. */
  silent: readonly Moment[];
  notifications: boolean;
  /** This device is told with the page closed. */
  push: boolean;
  lessMotion: boolean;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

class Settings {
  #chosen = $state.raw<Chosen>(read());

  constructor() {
    dark.addEventListener("change", () => this.#show());
    this.#show();
  }

  get theme(): Theme { return this.#chosen.theme; }
  get language(): Language { return this.#chosen.language; }
  get confirmBids(): boolean { return this.#chosen.confirmBids; }
  get sound(): boolean { return this.#chosen.sound; }
  hears(moment: Moment): boolean {
    return this.#chosen.sound && !this.#chosen.silent.includes(moment);
  }

  hear(moment: Moment, wanted: boolean): void {
    const others = this.#chosen.silent.filter((each) => each !== moment);
    this.change({ silent: wanted ? others : [...others, moment] });
  }

  get notifications(): boolean { return this.#chosen.notifications; }
  get push(): boolean { return this.#chosen.push; }
  get lessMotion(): boolean { return this.#chosen.lessMotion; }

  /** Whether things should rather appear than move. */
  get isCalm(): boolean {
    return this.#chosen.lessMotion || calm.matches;
  }

  change(part: Partial<Chosen>): void {
    this.#chosen = { ...this.#chosen, ...part };
    keep("settings", this.#chosen);
    this.#show();
  }

  async speak(language: Language): Promise<void> {
    await speak(language);
    this.change({ language });
  }

  /** The same as `public/theme.js` does before the first paint. */
  #show(): void {
    const { theme, lessMotion } = this.#chosen;
    const root = document.documentElement;
    root.dataset["theme"] = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
    if (lessMotion) root.dataset["motion"] = "less";
    else delete root.dataset["motion"];
    const colour = getComputedStyle(root).getPropertyValue("--paper").trim();
    if (colour) document.querySelector('meta[name="theme-color"]')?.setAttribute("content", colour);
  }
}

function read(): Chosen {
  const found = kept<Record<string, unknown>>("settings", {}, isMap);
  return {
    theme: THEMES.find((theme) => theme === found["theme"]) ?? "auto",
    language: LANGUAGES.find((language) => language === found["language"]) ?? preferredLanguage(),
    confirmBids: found["confirmBids"] === true,
    sound: found["sound"] !== false,
    silent: Array.isArray(found["silent"]) ? MOMENTS.filter((moment) => (found["silent"] as unknown[]).includes(moment)) : [],
    notifications: found["notifications"] === true,
    push: found["push"] === true,
    lessMotion: found["lessMotion"] === true,
  };
}

export const settings = new Settings();
