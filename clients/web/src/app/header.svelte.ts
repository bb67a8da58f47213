/** The header content of the open page. */
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
