/** The session of this browser: its guest, the offers of the service, and remembered data about rooms. */
import { Service, ServiceError, type Catalogue, type Guest } from "towerhall-client";

import { toast } from "../ui/toasts.svelte";
import { t } from "../words/index.svelte";
import { isMap, keep, kept } from "./kept";

const ROOMS_KEPT = 60;

/** Milliseconds for which a person whom a link or a sign-in replaced can be brought back. */
const UNDO_MS = 24 * 3_600_000;

/** The identity that a link or a sign-in replaced, and when (wall time). */
interface Replaced {
  guest: Guest;
  at: number;
}

/** Data about a room that only this browser has. */
interface Remembered {
  key?: string;
  /** Made here: so this person is the host, also without a seat. */
  made?: boolean;
}

class Session {
  readonly service = new Service(location.origin);
  guest = $state.raw<Guest | null>(kept<Guest | null>("guest", null, isGuest));
  catalogue = $state.raw<Catalogue | null>(null);
  #replaced = $state.raw<Replaced | null>(kept<Replaced | null>("replaced", null, isReplaced));
  #renewing: Promise<Guest> | null = null;
  #rooms = kept<Record<string, Remembered>>("rooms", {}, isRooms);

  get name(): string {
    return this.guest?.name ?? "";
  }

  /** Take that name. The person, with all seats, stays the same; who is new here becomes a person. */
  async become(name: string): Promise<Guest> {
    if (!this.guest) return this.take(await this.service.guest(name));
    if (this.guest.name === name.trim()) return this.guest;
    return this.take(await this.ask((token) => this.service.rename(token, name)));
  }

  /** Another tab may have changed the person of this browser. */
  recall(): void {
    this.guest = kept<Guest | null>("guest", null, isGuest) ?? this.guest;
  }

  /** Follow another tab that gave the same person another name. Another person is not followed without a question. */
  follow(): void {
    const newest = kept<Guest | null>("guest", null, isGuest);
    if (newest !== null && newest.id === this.guest?.id && newest.token !== this.guest.token) this.guest = newest;
  }

  take(guest: Guest): Guest {
    this.guest = { token: guest.token, id: guest.id, name: guest.name };
    keep("guest", this.guest);
    return this.guest;
  }

  /** Forget the guest here, after this device was logged out. */
  leave(): void {
    this.guest = null;
    keep("guest", null);
    this.#keepReplaced(null);
  }

  /** This person is gone, with all that this browser keeps of their rooms. */
  forget(): void {
    this.leave();
    this.#rooms = {};
    for (const name of ["rooms", "mine", "chats"]) keep(name, null);
  }

  /** The identity before a link or a sign-in, until the change is confirmed or a day has passed. */
  get before(): Guest | null {
    return this.#replaced && Date.now() - this.#replaced.at < UNDO_MS ? this.#replaced.guest : null;
  }

  /** Become the person of a link or an account. The person who was here before can be brought back. */
  replace(guest: Guest): void {
    const guestBefore = this.before ?? this.guest;
    if (guestBefore && guestBefore.id !== guest.id) this.#keepReplaced({ guest: guestBefore, at: Date.now() });
    this.take(guest);
    tellThem();
  }

  /** Be the person again who was here before. */
  undo(): void {
    if (this.before) this.take(this.before);
    tellThem();
    this.#keepReplaced(null);
  }

  /** The person who is here now is the right one. */
  confirm(): void {
    this.#keepReplaced(null);
  }

  #keepReplaced(replaced: Replaced | null): void {
    this.#replaced = replaced;
    keep("replaced", replaced);
  }

  /**
   * The identity to use when the service refuses this token: the same person with the newer token that this browser keeps, if
   * another tab has got one, or a new guest of the same name. Several may notice at once.
   */
  renew(refused: string): Promise<Guest> {
    const newest = kept<Guest | null>("guest", null, isGuest) ?? this.guest;
    if (newest !== null && newest.token !== refused) return Promise.resolve(this.take(newest));
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #renew(): Promise<Guest> {
    const guest = this.take(await this.service.guest(this.name || suggestedName()));
    toast(t("session.renewed", { name: guest.name }));
    return guest;
  }

  /** A token for looking at the list of rooms: the person's own, or an anonymous one. */
  async lookerToken(): Promise<string> {
    return (this.guest ?? (await this.service.guest(suggestedName()))).token;
  }

  /** Ask something as this person. A token that has expired is replaced once. */
  async ask<T>(question: (token: string) => Promise<T>): Promise<T> {
    const guest = this.guest ?? (await this.become(suggestedName()));
    try {
      return await question(guest.token);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "unauthorized") throw error;
      return await question((await this.renew(guest.token)).token);
    }
  }

  /** End this person's tokens on all other devices. The one that goes on is kept here before that. */
  async logOutOthers(): Promise<void> {
    const newer = this.take(await this.ask((token) => this.service.newerToken(token)));
    await this.service.revoke(newer.token, { others: true });
    tellThem();
  }

  async loadCatalogue(): Promise<Catalogue> {
    this.catalogue ??= await this.service.catalogue();
    return this.catalogue;
  }

  remember(code: string, about: Remembered): void {
    const { [code]: before, ...others } = this.#rooms;
    const newest = Object.entries(others).slice(1 - ROOMS_KEPT);
    this.#rooms = { ...Object.fromEntries(newest), [code]: { ...before, ...about } };
    keep("rooms", this.#rooms);
  }

  keyOf(code: string): string {
    return this.#rooms[code]?.key ?? "";
  }

  /** The rooms whose key this browser has, the newest first. */
  get keys(): (readonly [code: string, key: string])[] {
    return Object.entries(this.#rooms).flatMap(([code, { key }]) => (key ? [[code, key] as const] : [])).reverse();
  }

  made(code: string): boolean {
    return this.#rooms[code]?.made === true;
  }
}

/** A name for a person who has not chosen one yet. */
export function suggestedName(): string {
  return t("home.guest", { number: 100 + Math.floor(Math.random() * 900) });
}

/** Pushes to this device go to the person of this moment, by a token that is valid. */
function tellThem(): void {
  import("../away/push").then(({ renewHere }) => renewHere()).catch(() => undefined);
}

function isGuest(value: unknown): value is Guest {
  return isMap(value) && ["token", "id", "name"].every((key) => typeof value[key] === "string");
}

function isReplaced(value: unknown): value is Replaced {
  return isMap(value) && isGuest(value["guest"]) && typeof value["at"] === "number";
}

function isRooms(value: unknown): value is Record<string, Remembered> {
  return isMap(value) && Object.values(value).every(isMap);
}

export const session = new Session();
