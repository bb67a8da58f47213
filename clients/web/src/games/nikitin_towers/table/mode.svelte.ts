/** Whether the towers are shown as plain grids. The choice is kept in this browser. */
import { keep, kept } from "../../../app/kept";

class Mode {
  #isGrid = $state(kept("nikitin_towers.grid", false, (value): value is boolean => typeof value === "boolean"));

  get isGrid(): boolean {
    return this.#isGrid;
  }

  swap(): void {
    this.#isGrid = !this.#isGrid;
    keep("nikitin_towers.grid", this.#isGrid);
  }
}

export const mode = new Mode();
