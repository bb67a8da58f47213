/** What the open page shows in the header. */
import type { Snippet } from "svelte";

class HeaderParts {
  extra = $state.raw<Snippet | null>(null);

  /** Show a part as long as the page that has it; returns what takes it away. */
  put(extra: Snippet): () => void {
    this.extra = extra;
    return () => {
      if (this.extra === extra) this.extra = null;
    };
  }
}

export const header = new HeaderParts();
