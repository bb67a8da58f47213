const FIRST_MS = 250;
const MOST_MS = 15_000;

/**
 * The delay before the next connection. Waits double and are drawn from the whole range below them (full jitter), so
 * that the clients of a server that went down do not come back in step.
 */
export class Backoff {
  readonly #chance: () => number;
  #attempts = 0;

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  /** The next delay; never shorter than the server's `retry_ms`. */
  nextMs(atLeast = 0): number {
    const longest = Math.min(MOST_MS, FIRST_MS * 2 ** this.#attempts);
    this.#attempts = Math.min(this.#attempts + 1, 32);
    return atLeast + this.#chance() * longest;
  }

  /** The connection has lasted for a while. */
  reset(): void {
    this.#attempts = 0;
  }
}
