/**
 * The games that this page can draw. A game is one folder with a `game.ts`; there is no list to edit.
 *
 * A game is loaded when a person opens it, so the lobby stays small. Only its name (`name.ts`), its length
 * (`minutes.ts`) and its picture (`Picture.svelte`) come with the lobby. What a seat has built is drawn by `Small.svelte`,
 * which comes with pictures of positions. All keys of its words begin with the name of the game:
 *
 * - `<game>.about`: the game in one sentence. `<game>.preset.*` and so on: what the service names by codes.
 * - `<game>.code.<code>`: a refusal. `<game>.log.<fact>`: an entry of the log.
 * - `<game>.proof.<check>`, `.about`, `<game>.proof.detail.<name>`: what `checkDraws` checks.
 * - `<game>.settings.confirm_bids`, `.about`: only if the game has bids that may have to be said twice.
 *
 * `lesson.json` is the script of its lesson, which `clients/web/lessons.py` writes, and `lesson/` has the texts of it.
 *
 * `same.ts` in the folder is read by tests only: texts that may read as in English.
 */
import type { Answer, Check, Command, Document, Fact, Frame, GameRecord, Offer } from "towerhall-client";
import type { Component, Snippet } from "svelte";

import type { Moment } from "../app/notice/moments";
import type { Lesson } from "../learn/lesson";
import type { Catalogue, Language } from "../words/index.svelte";
import type { Said, Telling } from "./said";

export type { Said, Telling } from "./said";

/** The properties of the board. It shows the view, and plays from the offers only. */
export interface TableProps {
  /** The whole view of the room: `room`, `game`, `clock`. */
  view: Document;
  /** The viewer's seat, or null. */
  seat: number | null;
  offers: readonly Offer[];
  /** A command is under way. */
  busy: boolean;
  /** False in a replay: nothing can be done. */
  live: boolean;
  /** Names by seat. */
  names: string[];
  /** Seats that are connected. */
  online: readonly number[];
  act(command: Command): Promise<Answer>;
  /** A dry run: says what would become of the command. */
  try(command: Command): Promise<Answer>;
  /** The newest frame, for animation. */
  frame: Frame | null;
  /** Whether a bid has to be said twice. */
  confirmBids: boolean;
  /** A person's first game: the table says what a move means, and why one is impossible, before it is made. */
  guided?: boolean;
}

/** The properties of the result: the last view of a game that was played to its end. */
export interface ResultProps {
  view: Document;
  seat: number | null;
  names: string[];
  /** What the viewer may do next, shown below their own place. */
  children?: Snippet;
}

/** One part of the help. */
export interface RulesSection {
  id: string;
  title: string;
  paragraphs: string[];
  /** Name of a picture that `Figure` draws. */
  figure?: string;
}
export type RulesText = RulesSection[];

/** The rules to read, which are loaded when a person opens them. */
export interface Rules {
  sections: RulesText;
  /** The pictures of the rules. */
  Figure: Component<{ name: string }>;
}

/** The properties of what one seat has built, drawn for pictures of whole positions. It may leave the page, so that all colours are attributes. */
export interface SmallProps {
  view: Document;
  seat: number;
  /** The box in which it stands. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** In a list of many: few parts, no values. */
  plain?: boolean;
}

export interface GameUi {
  /** The board: live, in a replay, and for those who watch. */
  Table: Component<TableProps>;
  /** The end: scores taken apart. */
  Result: Component<ResultProps>;
  words(language: Language): Promise<Catalogue>;
  rules(language: Language): Promise<Rules>;
  /** The log entry of a fact, or null if it is not worth one. Parameters are words already, in the present language. */
  say(fact: Fact, telling: Telling): Said | null;
  /** Names of facts, the weightiest first: the one sentence about a move, for people who hear the game, is that of the first of these. */
  headlines: readonly string[];
  /** What the facts of a frame sound like; left out: nothing. A win is heard in every game. */
  moments?(facts: readonly Fact[]): Moment[];
  keys: { key: string; does: string }[];
  /** Whether the draws that the game showed are those of the record. That these follow from the seed is checked for every game. */
  checkDraws?(record: GameRecord): Promise<Check>;
}

const folders = import.meta.glob<{ default: GameUi }>("./*/game.ts");
const lessons = import.meta.glob<{ default: Lesson }>("./*/lesson.json");
const names = import.meta.glob<Record<Language, string>>("./*/name.ts", { eager: true, import: "default" });

const minutes = import.meta.glob<readonly [least: number, most: number]>("./*/minutes.ts", { eager: true, import: "default" });
const pictures = import.meta.glob<Component>("./*/Picture.svelte", { eager: true, import: "default" });

/** The picture of a game for lists, 120 by 80, or null. It has no props. */
export function pictureOf(name: string): Component | null {
  return pictures[`./${name}/Picture.svelte`] ?? null;
}

/** The usual length of a game in minutes, or null if this page does not know it. */
export function minutesOf(name: string): readonly [least: number, most: number] | null {
  return minutes[`./${name}/minutes.ts`] ?? null;
}

/** The name of a game, or null if this page has no folder for it. */
export function nameOfGame(name: string, language: Language): string | null {
  return names[`./${name}/name.ts`]?.[language] ?? null;
}

/** Whether this page can draw the game. */
export function hasGame(name: string): boolean {
  return `./${name}/game.ts` in folders;
}

/** The game, or null if this page has no folder for it. */
export async function loadGame(name: string): Promise<GameUi | null> {
  const load = folders[`./${name}/game.ts`];
  return load ? (await load()).default : null;
}

/** Whether the game has a lesson. */
export function hasLesson(name: string): boolean {
  return `./${name}/lesson.json` in lessons;
}

/** The lesson of a game, or null if it has none. */
export async function loadLesson(name: string): Promise<Lesson | null> {
  const load = lessons[`./${name}/lesson.json`];
  return load ? (await load()).default : null;
}

/** The names of all games that have a folder. */
export function gameNames(): string[] {
  return Object.keys(folders).map((path) => path.split("/")[1] ?? "");
}
