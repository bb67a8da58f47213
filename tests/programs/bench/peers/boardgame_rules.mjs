// The bid game as boardgame.io wants it: clients of the framework need it, too.

import { COINS, SEATS, SLOTS, TOWERS, allows, bid, display } from "./bid.mjs";

export const Bid = {
  name: "bid",
  minPlayers: SEATS,
  maxPlayers: SEATS,
  deltaState: true,
  disableUndo: true,
  setup: () => ({
    seq: 0,
    turn: 0,
    round: 0,
    display: Object.fromEntries(display.map((slot) => [slot.id, { ...slot }])),
    players: Object.fromEntries(
      Array.from({ length: SEATS }, (_, seat) => [seat, { coins: COINS, bid: 0, score: 0, towers: Array(TOWERS).fill(0) }]),
    ),
  }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    bid: ({ G, playerID }, number) => {
      const seat = Number(playerID);
      if (!allows(G, seat, number)) return "INVALID_MOVE";
      bid(G, G.players[seat], G.display[number % SLOTS], seat, number);
    },
  },
};
