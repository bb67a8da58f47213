/**
 * The words of the page: one catalogue for each language, loaded when it is chosen.
 *
 * Catalogues of games are joined to it when a game is opened (`join`), under the same flat keys.
 */
import en, { type Text } from "./en";

export const LANGUAGES = ["en", "de", "bg", "es", "fr", "it", "nl"] as const;
export type Language = (typeof LANGUAGES)[number];
export type Key = keyof typeof en;
export type Params = Record<string, string | number>;
export type Catalogue = Record<string, Text>;

/** Texts that may read as in English, in some languages. */
export interface Same {
  reason: string;
  keys: RegExp;
  languages: readonly Language[];
}

const others = import.meta.glob<{ default: Catalogue }>("./{de,bg,es,fr,it,nl}.ts");

let language = $state<Language>("en");
let catalogue = $state.raw<Catalogue>(en);
let games = $state.raw<Catalogue>({});

export function currentLanguage(): Language {
  return language;
}

/** The first language of the browser that there is a catalogue for. */
export function preferredLanguage(wanted: readonly string[] = navigator.languages): Language {
  for (const tag of wanted) {
    const found = LANGUAGES.find((known) => known === tag.toLowerCase().split("-")[0]);
    if (found) return found;
  }
  return "en";
}

export async function speak(wanted: Language): Promise<void> {
  const load = others[`./${wanted}.ts`];
  catalogue = load ? (await load()).default : en;
  language = wanted;
  document.documentElement.lang = wanted;
}

/** Adds the words of a game to those of the page. */
export function join(words: Catalogue): void {
  games = { ...games, ...words };
}

/** The text of a key of the page. */
export function t(key: Key, params: Params = {}): string {
  return fill(catalogue[key] ?? en[key], params);
}

/** The text of a key that is made at run time (a code, a fact, a word of a game), or null if there is none. */
export function word(key: string, params: Params = {}): string | null {
  const text = catalogue[key] ?? games[key] ?? (en as Catalogue)[key];
  return text === undefined ? null : fill(text, params);
}

function fill(text: Text, params: Params): string {
  const form = typeof text === "string" ? text : plural(text, Number(params["n"] ?? 0));
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}

function plural(forms: Exclude<Text, string>, n: number): string {
  const rule = new Intl.PluralRules(language).select(n);
  return (rule !== "other" && forms[rule as "one" | "few" | "many"]) || forms.other;
}
