/** Those who want to hear of something. The fault of one listener is reported and hurts nobody else. */
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
