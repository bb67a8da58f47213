/** The smallest game of the tests has no folder here, so the page must do without one. */
import { expect, it } from "vitest";

import { gameNames, hasGame, loadGame, nameOfGame, pictureOf } from "../src/games";

const GAME = "dice_duel";

it("has neither pictures nor words for a game without a folder, and says so", async () => {
  expect(gameNames()).not.toContain(GAME);
  expect(hasGame(GAME)).toBe(false);
  expect(await loadGame(GAME)).toBeNull();
  expect(nameOfGame(GAME, "en")).toBeNull();
  expect(pictureOf(GAME)).toBeNull();
});
