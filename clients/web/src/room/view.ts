/** The room's part of a view (P-61, P-62), with types. No word of any game. */
import type { Document, GameResult } from "towerhall-client";

import { t } from "../words/index.svelte";

export type Status = "waiting" | "sealed" | "playing" | "over";

export interface Holder {
  name: string;
  /** Id of the person in this room; bots have none. */
  id?: string;
  bot?: string;
  /** A program of another person plays here. */
  bot_account?: boolean;
  ready?: boolean;
  stand_in?: string;
  timeouts?: number;
  resigned?: boolean;
  wants_end?: boolean;
}

export interface RoomView {
  code: string;
  game: string;
  uid: string;
  status: Status;
  size: number;
  seats: Record<string, Holder>;
  turn_seconds?: number;
  bot_delay_ms?: number;
  beat_ms?: number;
  bot_accounts?: boolean;
  /** How many times as fast the clocks of a sandbox room run (P-190). */
  sandbox?: number;
  /** The game counts for ratings, and takes no bots (P-201). */
  rated?: boolean;
  host?: number;
  options?: Document;
  result?: GameResult;
  closed?: string;
  quick?: boolean;
  /** Names by id: whom the host has sent away. */
  kicked?: Record<string, string>;
  /** By id: whom the host has silenced. */
  muted?: Record<string, true>;
  reserved?: number[];
  previous?: string;
  rematch?: string;
}

/** The room, or null before the first view has come. */
export function roomOf(view: Document): RoomView | null {
  const room = view["room"];
  return isDocument(room) && typeof room["code"] === "string" ? (room as unknown as RoomView) : null;
}

/** The seat of that person, or null. */
export function seatOf(room: RoomView | null, id: string): number | null {
  const seat = Object.entries(room?.seats ?? {}).find(([, holder]) => holder.id !== undefined && holder.id === id)?.[0];
  return seat === undefined ? null : Number(seat);
}

/** One place at the table, taken or not. */
export interface Place {
  seat: number;
  holder: Holder | null;
  isHost: boolean;
  isReserved: boolean;
}

export function places(room: RoomView): Place[] {
  return Array.from({ length: room.size }, (_, seat) => ({
    seat,
    holder: room.seats[String(seat)] ?? null,
    isHost: room.host === seat,
    isReserved: room.reserved?.includes(seat) ?? false,
  }));
}

/** Names by seat; a free seat has none. Bots of one level share a name at the service, so they get numbers here. */
export function namesOf(room: RoomView | null): string[] {
  return room ? places(room).map(({ seat, holder }) => (holder ? nameOf(holder, seat) : "")) : [];
}

/** Names by id, as far as the room knows them: who sits, and who was sent away. */
export function peopleOf(room: RoomView | null): [id: string, name: string][] {
  const seated = Object.values(room?.seats ?? {}).flatMap((holder): [string, string][] => (holder.id ? [[holder.id, holder.name]] : []));
  return [...seated, ...Object.entries(room?.kicked ?? {})];
}

export function nameOf(holder: { name: string; bot?: string }, seat: number): string {
  return holder.bot ? t("room.bot.name", { number: seat + 1 }) : holder.name;
}

/**
 * Who has to act, as far as the game says so: its part of the view names the seat under `to_act`, or under `turn`. A game
 * has both if one seat decides in the turn of another.
 */
export function turnOf(view: Document): number | null {
  const game = view["game"];
  const turn = isDocument(game) ? (game["to_act"] ?? game["turn"]) : undefined;
  const status = roomOf(view)?.status;
  return typeof turn === "number" && status === "playing" ? turn : null;
}

export function freeSeats(room: RoomView): number {
  return places(room).filter(({ holder }) => !holder).length;
}

/** People, other than the host, who have not said that they are ready. */
export function unready(room: RoomView): string[] {
  return places(room)
    .filter(({ seat, holder }) => holder && !holder.bot && !holder.ready && (room.quick || seat !== room.host))
    .map(({ holder }) => holder!.name);
}

function isDocument(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
