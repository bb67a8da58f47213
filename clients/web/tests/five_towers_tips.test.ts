/** What a call would mean, or why it is not offered, at every moment of recorded games. */
import { describe, expect, it } from "vitest";

import { callsOf, mayBid } from "../src/games/five_towers/play/calls";
import { leading, readGame } from "../src/games/five_towers/play/game";
import { tipOf } from "../src/games/five_towers/play/tips";
import { played } from "./five_towers_games";

describe.each(["two", "three", "five"] as const)("in the game of %s", (name) => {
  const { timeline, offers } = played(name);
  const moments = offers.flatMap(([seq, seat, offered]) => {
    const [game, calls] = [readGame(timeline.at(seq)), callsOf(offered)];
    return game && calls ? [{ game, calls, seat }] : [];
  });

  it("a call has a meaning exactly if it is offered", () => {
    for (const { game, calls, seat } of moments) {
      for (let number = 0; number <= game.display.length; number += 1)
        expect(tipOf(game, calls, seat, number).key.startsWith("five_towers.tip.")).toBe(mayBid(calls, number));
      expect(tipOf(game, calls, seat, -1).key).toBe(calls.pass ? "five_towers.tip.pass" : "five_towers.code.start_player_must_bid");
    }
  });

  it("a bid that is not higher is told the highest, one that is too high the most", () => {
    const codes = new Set<string>();
    for (const { game, calls, seat } of moments) {
      for (let number = 0; number <= game.display.length; number += 1) {
        const { key, params } = tipOf(game, calls, seat, number);
        codes.add(key);
        if (key.endsWith("bid_too_low")) expect(params).toEqual({ highest: leading(game)!.number });
        if (key.endsWith("bid_infeasible")) expect(params["most"]).toBeLessThan(number);
      }
    }
    expect(codes).toContain("five_towers.code.bid_too_low");
    expect(codes).toContain("five_towers.tip.bid_all");
  });
});
