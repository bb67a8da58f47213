/** The lists of this person: friends, those asked and asking, those blocked and met. One object for all pages. */
import type { People, Whom } from "towerhall-client";

import { session } from "../app/session.svelte";

class Lists {
  people = $state.raw<People | null>(null);
  #of = "";

  /** Read the lists, unless those of this person are known. */
  async know(): Promise<void> {
    if (this.#of !== session.guest?.id || !this.people) await this.load();
  }

  async load(): Promise<void> {
    this.#take(await session.ask((token) => session.service.people(token)));
  }

  async befriend(whom: Whom, key = ""): Promise<void> {
    this.#take(await session.ask((token) => session.service.befriend(token, whom, key)));
  }

  async block(whom: Whom, key = ""): Promise<void> {
    this.#take(await session.ask((token) => session.service.block(token, whom, key)));
  }

  forget(): void {
    this.people = null;
  }

  #take(people: People): void {
    this.#of = session.guest?.id ?? "";
    this.people = people;
  }
}

export const lists = new Lists();
