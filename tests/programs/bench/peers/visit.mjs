// Four players with the client libraries of a framework. `node visit.mjs KIND ADDRESS NUMBER...`: they bid these numbers in turn,
// and what the last of them then sees is printed as JSON. It shows that a server plays the game that its load counts.

import { createRequire } from "node:module";
import { SEATS } from "./bid.mjs";

const [kind, address, ...numbers] = process.argv.slice(2);

/** Four seats of a new room, each with a state to look at and a way to bid. */
const visits = {
  async colyseus() {
    const { Client } = await import("@colyseus/sdk");
    const client = new Client(`http://${address}`);
    const rooms = [await client.create("bid", { seat: 0 })];
    for (let seat = 1; seat < SEATS; seat += 1) rooms.push(await client.joinById(rooms[0].roomId, { seat }));
    return rooms.map((room) => ({ see: () => room.state?.toJSON?.(), bid: (number) => room.send("bid", number) }));
  },

  async boardgame_io() {
    const require = createRequire(import.meta.url);
    const { Client } = require("boardgame.io/client");
    const { SocketIO } = require("boardgame.io/multiplayer");
    const { Bid } = await import("./boardgame_rules.mjs");
    const seats = [];
    for (let seat = 0; seat < SEATS; seat += 1) {
      const multiplayer = SocketIO({ server: `http://${address}`, socketOpts: { transports: ["websocket"] } });
      const client = Client({ game: Bid, numPlayers: SEATS, matchID: "visited", playerID: `${seat}`, multiplayer, debug: false });
      client.start();
      seats.push({ see: () => client.getState()?.G, bid: (number) => client.moves.bid(number) });
      await until(() => seats[seat].see());
    }
    return seats;
  },
};

async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

const seats = await visits[kind]();
await until(() => seats.every(({ see }) => see()?.seq === 0));
for (const [at, number] of numbers.entries()) {
  seats[at % SEATS].bid(Number(number));
  await until(() => seats.every(({ see }) => see().seq === at + 1));
}
process.stdout.write(JSON.stringify(seats.at(-1).see()));
process.exit(0);
