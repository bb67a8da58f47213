import { beforeAll, describe, expect, test } from "vitest";

import { explainRefusal } from "../src/app/explain";
import { join } from "../src/words/index.svelte";

beforeAll(() => {
  join({ "chess.code.wrong_phase": "White moves first.", "chess.code.bad_options": "No such clock." });
  join({ "poker.code.wrong_phase": "The river is not dealt.", "poker.code.seat_taken": "The card of seat {seat} is taken." });
});

const refusal = (code: string, rule: string, params = {}) => ({ code, rule, params, hint: "as the server says" });

describe("a refusal", () => {
  test("of the protocol is told in words of the page, in every game", () => {
    for (const game of ["chess", "poker"]) expect(explainRefusal(refusal("seat_taken", "P-51"), game)).toBe("That seat has just been taken.");
  });

  test("of a game is told in words of that game, also if another one has the same code", () => {
    expect(explainRefusal(refusal("wrong_phase", "4"), "chess")).toBe("White moves first.");
    expect(explainRefusal(refusal("wrong_phase", "4"), "poker")).toBe("The river is not dealt.");
    expect(explainRefusal(refusal("seat_taken", "7", { seat: 3 }), "poker")).toBe("The card of seat 3 is taken.");
  });

  test("without words is told by its hint, never in words of another game or of the protocol", () => {
    expect(explainRefusal(refusal("wrong_phase", "4"), "go")).toBe("as the server says");
    expect(explainRefusal(refusal("seat_taken", "4"), "go")).toBe("as the server says");
    expect(explainRefusal({ ...refusal("wrong_phase", "4"), hint: "" }, "go")).toBe("Something went wrong (wrong_phase).");
  });

  test("with one of the two codes of every game has words without any of the game's", () => {
    expect(explainRefusal(refusal("bad_options", "1"), "go")).toBe("These options cannot be combined.");
    expect(explainRefusal(refusal("bad_options", "1"), "chess")).toBe("No such clock.");
  });
});
