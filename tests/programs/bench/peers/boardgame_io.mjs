// The bid game on boardgame.io. `node boardgame_io.mjs [STORE]`: with the address of a store each move is durable before players
// hear of it.
//
// The framework tells players before it stores a state. What it tells passes a publisher, which here waits for the store.

import { createRequire } from "node:module";
import { Bid } from "./boardgame_rules.mjs";
import { durable } from "./store.mjs";

const { Server, SocketIO } = createRequire(import.meta.url)("boardgame.io/server");

const append = await durable(process.argv[2]);

/** Hands on what players are told, in order for each match, and only when it is durable. */
class Publisher {
  listeners = new Map();

  async publish(channel, payload) {
    if (append && payload.type === "patch") {
      const [before, { G }] = payload.args.slice(-2);
      const seat = before.G.turn;
      await append(channel, G.seq, seat, G.players[seat].bid);
    }
    this.listeners.get(channel)?.(payload);
  }

  subscribe(channel, listener) {
    this.listeners.set(channel, listener);
  }

  unsubscribeAll(channel) {
    this.listeners.delete(channel);
  }
}

const transport = new SocketIO({ pubSub: new Publisher(), socketOpts: { transports: ["websocket"], perMessageDeflate: false } });
const server = Server({ games: [Bid], transport, origins: [/127\.0\.0\.1/] });
const { appServer } = await server.run({ port: 0, lobbyConfig: { apiPort: 0 } });
console.log(`boardgame.io is at http://127.0.0.1:${appServer.address().port}/`);
process.on("SIGTERM", () => process.exit(0));
