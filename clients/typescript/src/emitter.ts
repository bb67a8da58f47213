/** Listeners of an event. An exception of one listener is reported and does not affect the others. */
export class Emitter<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Listen from now on, until the function that is returned is called. */
  on(listener: (event: Event) => void): () => void {
    const own = (event: Event): void => listener(event);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  emit(event: Event): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
