/**
 * The games that this page can draw. A game is one folder with a `game.ts`; there is no list to edit.
 *
 * A game is loaded when somebody opens it, so the lobby stays small.
 */
import type { Answer, Check, Command, Document, Fact, Frame, GameRecord, Offer } from "towerhall-client";
import type { Component } from "svelte";

import type { Catalogue, Language, Params } from "../words/index.svelte";

/** What the board gets. It shows the view, and plays from the offers only. */
export interface TableProps {
  /** The whole view of the room: `room`, `game`, `clock`. */
  view: Document;
  /** The seat of whoever looks, or null. */
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
}

/** What the result gets: the last view of a game that was played to its end. */
export interface ResultProps {
  view: Document;
  seat: number | null;
  names: string[];
}

/** One part of the help. */
export interface RulesSection {
  id: string;
  title: string;
  paragraphs: string[];
  /** Name of a picture that the game's `Figure` draws. */
  figure?: string;
}
export type RulesText = RulesSection[];

/** An entry of the worded log: a key of the catalogue and what fills it. */
export interface Said {
  key: string;
  params: Params;
}

export interface GameUi {
  /** The board: live, in a replay, and for those who watch. */
  Table: Component<TableProps>;
  /** The end: scores taken apart. */
  Result: Component<ResultProps>;
  /** The pictures of the rules. */
  Figure: Component<{ name: string }>;
  words(language: Language): Promise<Catalogue>;
  rules(language: Language): Promise<RulesText>;
  /** The log entry of a fact, or null if it is not worth one. Parameters are words already, in the present language. */
  say(fact: Fact, context: { view: Document; names: string[] }): Said | null;
  keys: { key: string; does: string }[];
  /** Whether the draws that the game showed follow from the seed. */
  checkDraws?(record: GameRecord): Promise<Check>;
}

const folders = import.meta.glob<{ default: GameUi }>("./*/game.ts");
const names = import.meta.glob<Record<Language, string>>("./*/name.ts", { eager: true, import: "default" });

/** What a game is called, or null if this page has no folder for it. */
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

/** The names of all games that have a folder. */
export function gameNames(): string[] {
  return Object.keys(folders).map((path) => path.split("/")[1] ?? "");
}
