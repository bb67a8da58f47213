/** What a push says (P-219), worded for a notification. Pure: the service worker shows it. */
import type { Language } from "../words/index.svelte";

export const LANGUAGES = ["en", "de", "bg", "es", "fr", "it", "nl"] as const satisfies readonly Language[];
type Words = Record<string, string>;

const WORDS = import.meta.glob<Words>("./words/*.ts", { eager: true, import: "default" });
const GAMES = import.meta.glob<Record<Language, string>>("../games/*/name.ts", { eager: true, import: "default" });

const CODE = /^[A-HJ-NP-Z]{6}$/;
const MOST_TEXT = 200;

export interface Note {
  title: string;
  body: string;
  lang: Language;
  /** One for each room: a newer notification takes the place of the older one. */
  tag: string;
  room: string;
}

/** The notification for a push; null for one that this page does not know. */
export function noteOf(text: string): Note | null {
  const said = parsed(text);
  const { kind, room, game } = said;
  if (typeof room !== "string" || !CODE.test(room) || typeof kind !== "string") return null;
  const lang = languageOf(said["language"]);
  const names = Array.isArray(said["names"]) ? said["names"].filter((name): name is string => typeof name === "string").join(", ") : "";
  const words = WORDS[`./words/${lang}.ts`]!;
  const title = words[`away.${kind}.title`];
  if (title === undefined) return null;
  const params = { room, names, game: gameName(game, lang), place: String(said["place"] ?? "") };
  const long = words[`away.${kind}.text`] ?? words["away.with"]!;
  const plain = words["away.room"]!;
  const isWhole = names !== "" && (!long.includes("{place}") || params.place !== "");
  return { title: fill(title, params), body: fill(isWhole ? long : plain, params).slice(0, MOST_TEXT), lang, tag: tagOf(room), room };
}

export function tagOf(room: string): string {
  return `towerhall-${room}`;
}

export function languageOf(tag: unknown): Language {
  const wanted = typeof tag === "string" ? tag.toLowerCase().split("-")[0] : "";
  return LANGUAGES.find((language) => language === wanted) ?? "en";
}

function gameName(game: unknown, language: Language): string {
  return GAMES[`../games/${String(game)}/name.ts`]?.[language] ?? "Towerhall";
}

/** Names of people stand in the text as they are: one that looks like a parameter is none. */
function fill(text: string, params: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => params[name] ?? whole);
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
