/** Which dialog of the frame is open: at most one. */

export type DialogName = "settings" | "keys" | "account";

class Dialogs {
  shown = $state<DialogName | null>(null);

  show(name: DialogName): void {
    // A dialog of a page comes first: two above each other would confuse.
    if (!document.querySelector("dialog[open]")) this.shown = name;
  }

  /** Show another dialog in place of the one that is open. */
  change(name: DialogName): void {
    this.shown = name;
  }

  hide(): void {
    this.shown = null;
  }
}

export const dialogs = new Dialogs();
