/** Which games this device has seen to an end. In the first game of each, bots are slow and the table explains more. */
import { isMap, keep, kept } from "./kept";

const NAME = "known";

class Newcomer {
  #known = $state.raw(kept<Record<string, unknown>>(NAME, {}, isMap));

  isFirstGame(game: string): boolean {
    return this.#known[game] !== true;
  }

  /** The person has played a game to its end. */
  learn(game: string): void {
    if (!this.isFirstGame(game)) return;
    // Another tab may have learned another game.
    this.#known = { ...kept<Record<string, unknown>>(NAME, {}, isMap), [game]: true };
    keep(NAME, this.#known);
  }
}

export const newcomer = new Newcomer();
