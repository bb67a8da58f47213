/** The game's part of the view, read into types. Nothing is computed that the view does not say. */
import type { Document, Value } from "towerhall-client";

import { readPlacement } from "./notation";
import type { Block } from "./tower";

export type Phase = "roll" | "choose" | "place" | "over";

export interface Tower {
  seat: number;
  /** In the order in which they were placed. */
  blocks: Block[];
  height: number;
  ring: number;
}

export interface Game {
  options: { win: "height" | "ring"; lean: string; autoRoll: boolean };
  phase: Phase;
  /** The room has ended without a result. */
  isClosed: boolean;
  /** The seat that builds in this turn, or null. */
  turn: number | null;
  /** The seat that must act now, or null. */
  toAct: number | null;
  turns: number;
  /** 0 while it is not rolled. */
  die: number;
  size: number;
  /** The block that has to be placed, or "". */
  block: string;
  pile: ReadonlyMap<string, number>;
  quiet: number;
  towers: Tower[];
  end: string;
}

export function isDocument(value: Value | undefined): value is Document {
  return typeof value === "object" && !Array.isArray(value);
}

/** The game of a room's view, or null while there is none. */
export function readGame(view: Document): Game | null {
  const game = view["game"];
  if (!isDocument(game)) return null;
  const options = part(game, "options");
  const room = part(view, "room");
  const closed = room["status"] === "over" && game["phase"] !== "over";
  return {
    isClosed: closed && room["result"] === undefined,
    options: { win: options["win"] === "ring" ? "ring" : "height", lean: String(options["lean"]), autoRoll: options["auto_roll"] === true },
    phase: game["phase"] as Phase,
    turn: closed ? null : seatOf(game["turn"]),
    toAct: closed ? null : seatOf(game["to_act"]),
    turns: Number(game["turns"] ?? 0),
    die: Number(game["die"] ?? 0),
    size: Number(game["size"] ?? 0),
    block: String(game["block"] ?? ""),
    pile: new Map(Object.entries(part(game, "pile")).map(([kind, count]) => [kind, Number(count)])),
    quiet: Number(game["quiet"] ?? 0),
    towers: readTowers(part(game, "towers")),
    end: String(game["end"] ?? ""),
  };
}

/** Whether a bot plays in that seat: one that has it, or one that stands in. */
export function isBot(view: Document, seat: number): boolean {
  const holder = part(part(part(view, "room"), "seats"), String(seat));
  return "bot" in holder || "stand_in" in holder;
}

/** The seat that chooses blocks for that one: its left neighbour. */
export function neighbourOf(game: Game, seat: number): number {
  return (seat + 1) % game.towers.length;
}

/** What the seat has reached, by the way to win that was agreed. */
export function pointsOf(game: Game, tower: Tower): number {
  return game.options.win === "ring" ? tower.ring : tower.height;
}

function readTowers(towers: Document): Tower[] {
  const seats = Object.keys(towers).map(Number).sort((one, other) => one - other);
  return seats.map((seat) => {
    const tower = part(towers, String(seat));
    return { seat, blocks: readBlocks(part(tower, "blocks")), height: Number(tower["height"] ?? 0), ring: Number(tower["ring"] ?? 0) };
  });
}

function readBlocks(blocks: Document): Block[] {
  return Object.entries(blocks)
    .flatMap(([turn, text]) => {
      const placement = readPlacement(String(text));
      return placement ? [{ ...placement, turn: Number(turn) }] : [];
    })
    .sort((one, other) => one.turn - other.turn);
}

function seatOf(value: Value | undefined): number | null {
  return typeof value === "number" ? value : null;
}

function part(document: Document, key: string): Document {
  const value = document[key];
  return isDocument(value) ? value : {};
}
