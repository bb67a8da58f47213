/** The game of the room or record that is open. Help and settings then leave out other games. */
class OpenGame {
  name = $state<string | null>(null);

  /** Returns a function that takes the game away again. */
  show(name: string): () => void {
    this.name = name;
    return () => {
      if (this.name === name) this.name = null;
    };
  }
}

export const open = new OpenGame();
