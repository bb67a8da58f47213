/** Options of games and rooms in words. The service names texts by codes; the words are ours. */
import type { Catalogue, Document, GameDescription, Value } from "towerhall-client";

import { nameOfGame } from "../games";
import { readable, sentence } from "../words/identifiers";
import { currentLanguage, t, word } from "../words/index.svelte";

/** Clocks that a form offers, in seconds; those that the service does not take are left out. */
const CLOCKS = [0, 30, 60, 120, 300, 3600, 86_400, 3 * 86_400, 7 * 86_400];
/** How long bots wait before each move, and how much longer after a result (P-57). */
export const PACES = {
  quick: { bot_delay_ms: 150, beat_ms: 0 },
  usual: { bot_delay_ms: 600, beat_ms: 1200 },
  relaxed: { bot_delay_ms: 1800, beat_ms: 2500 },
} as const;
/** The first level with bot accounts (P-157). */
export const BOT_ACCOUNTS_LEVEL = 6;
export type Pace = keyof typeof PACES;

/** The pace of a room: one of the three, or the nearest one of a room that a program made. */
export function paceOf(botDelayMs: number): Pace {
  if (botDelayMs < PACES.usual.bot_delay_ms) return "quick";
  return botDelayMs < PACES.relaxed.bot_delay_ms ? "usual" : "relaxed";
}

/** The pace as the service takes it: servers of older levels know no beat. */
export function paceFor(pace: Pace, catalogue: Catalogue): { bot_delay_ms: number; beat_ms?: number } {
  const { bot_delay_ms, beat_ms } = PACES[pace];
  return catalogue.clocks.beat_ms ? { bot_delay_ms, beat_ms } : { bot_delay_ms };
}

export function gameWord(name: string): string {
  return nameOfGame(name, currentLanguage()) ?? sentence(name);
}

export function levelWord(level: string): string {
  return word(`level.${level}`) ?? level;
}

/** A name in a list of rooms. Bots have none of their own: the service calls them by their level. */
export function listedName(name: string): string {
  const bot = /^bot (easy|medium|hard)$/.exec(name);
  return bot ? t("rooms.bot", { level: levelWord(bot[1]!) }) : name;
}

/** All names in a list of rooms. Bot accounts are told apart by a word. */
export function listedNames(room: { names: string[]; bot_accounts_at?: number[] }): string {
  const word = (name: string, at: number) => (room.bot_accounts_at?.includes(at) ? t("rooms.bot_account", { name }) : listedName(name));
  // The name of a person who was erased is empty (P-209).
  return room.names.map(word).filter(Boolean).join(", ");
}

/** Whether bot accounts may sit, as the service takes it: servers of older levels know none. */
export function botAccountsFor(botAccounts: boolean, catalogue: Catalogue): { bot_accounts?: boolean } {
  return catalogue.level.newest >= BOT_ACCOUNTS_LEVEL ? { bot_accounts: botAccounts } : {};
}

/** A code of the service in words, or at least its last part. */
export function codeWord(code: string): string {
  return word(code) ?? readable(code.split(".").at(-1)!);
}

export function clockChoices(catalogue: Catalogue): number[] {
  const spans = catalogue.clocks.turn_seconds;
  return CLOCKS.filter((seconds) => spans.some(([least, most]) => least <= seconds && seconds <= most));
}

export function duration(seconds: number): string {
  if (seconds === 0) return t("time.none");
  if (seconds % 86_400 === 0) return t("time.days", { n: seconds / 86_400 });
  if (seconds % 3600 === 0) return t("time.hours", { n: seconds / 3600 });
  if (seconds % 60 === 0) return t("time.minutes", { n: seconds / 60 });
  return t("time.seconds", { n: seconds });
}

/** The default options of a room. */
export function defaults(game: GameDescription): Document {
  return Object.fromEntries(Object.entries(game.options).map(([name, option]) => [name, option.default]));
}

/** The preset that these options are, or null for a mix of one's own. */
export function presetOf(game: GameDescription, options: Document): string | null {
  const same = (preset: Document) => Object.keys(game.options).every((name) => preset[name] === options[name]);
  return Object.entries(game.presets).find(([, preset]) => same({ ...defaults(game), ...preset }))?.[0] ?? null;
}

/** The agreed options, as a short list of name and value. */
export function agreed(game: GameDescription, options: Document): { name: string; value: string }[] {
  return Object.entries(game.options).map(([name, option]) => {
    const at = option.values.findIndex((value: Value) => value === options[name]);
    return { name: codeWord(option.text), value: codeWord(option.texts[at] ?? String(options[name])) };
  });
}
