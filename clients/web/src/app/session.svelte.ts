/** Who plays here: the guest of this browser, what the service offers, and what is remembered about rooms. */
import { Service, ServiceError, type Catalogue, type Guest } from "towerhall-client";

import { toast } from "../ui/toasts.svelte";
import { t } from "../words/index.svelte";
import { isMap, keep, kept } from "./kept";

const ROOMS_KEPT = 60;

/** What this browser knows of a room and no server tells again. */
interface Remembered {
  key?: string;
  /** Made here: so this person is the host, also without a seat. */
  made?: boolean;
}

class Session {
  readonly service = new Service(location.origin);
  guest = $state.raw<Guest | null>(kept<Guest | null>("guest", null, isGuest));
  catalogue = $state.raw<Catalogue | null>(null);
  #renewing: Promise<Guest> | null = null;
  #rooms = kept<Record<string, Remembered>>("rooms", {}, isRooms);

  get name(): string {
    return this.guest?.name ?? "";
  }

  /** Be somebody of that name. Another name is another person: names are in the token. */
  async become(name: string): Promise<Guest> {
    if (this.guest?.name === name.trim()) return this.guest;
    return this.take(await this.service.guest(name));
  }

  take(guest: Guest): Guest {
    this.guest = { token: guest.token, id: guest.id, name: guest.name };
    keep("guest", this.guest);
    return this.guest;
  }

  /** A new guest of the same name, because the old token is not taken any more. Several may notice at once. */
  renew(): Promise<Guest> {
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #renew(): Promise<Guest> {
    const guest = this.take(await this.service.guest(this.name || suggestedName()));
    toast(t("session.renewed", { name: guest.name }));
    return guest;
  }

  /** A token for looking at the list of rooms: one's own, or that of nobody in particular. */
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
      return await question((await this.renew()).token);
    }
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

  made(code: string): boolean {
    return this.#rooms[code]?.made === true;
  }
}

/** A name for somebody who has not chosen one yet. */
export function suggestedName(): string {
  return t("home.guest", { number: 100 + Math.floor(Math.random() * 900) });
}

function isGuest(value: unknown): value is Guest {
  return isMap(value) && ["token", "id", "name"].every((key) => typeof value[key] === "string");
}

function isRooms(value: unknown): value is Record<string, Remembered> {
  return isMap(value) && Object.values(value).every(isMap);
}

export const session = new Session();
