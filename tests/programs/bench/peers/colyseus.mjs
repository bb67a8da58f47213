// The bid game on Colyseus. `node colyseus.mjs [STORE]`: with the address of a store each move is durable before its patch.
//
// As fast as the framework allows: patches leave at once, not by a timer, and nothing is logged.

import { createServer } from "node:http";
import { Room, Server } from "@colyseus/core";
import { schema, t } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";
import { COINS, SEATS, SLOTS, TOWERS, allows, bid, display } from "./bid.mjs";
import { durable } from "./store.mjs";

const Slot = schema({ id: t.uint8(), kind: t.string(), value: t.uint8() }, "Slot");
const Player = schema({ coins: t.uint16(), bid: t.uint16(), score: t.uint16(), towers: t.array("uint16") }, "Player");
const State = schema(
  { seq: t.uint32(), turn: t.uint8(), round: t.uint8(), display: t.map(Slot), players: t.map(Player) },
  "State",
);

const append = await durable(process.argv[2]);

class BidRoom extends Room {
  maxClients = SEATS;
  autoDispose = false;
  patchRate = null;
  seats = new Map();

  onCreate() {
    const state = new State();
    Object.assign(state, { seq: 0, turn: 0, round: 0 });
    for (const [id, { kind, value }] of display.entries()) {
      const slot = new Slot();
      Object.assign(slot, { id, kind, value });
      state.display.set(`${id}`, slot);
    }
    for (let seat = 0; seat < SEATS; seat += 1) {
      const player = new Player();
      Object.assign(player, { coins: COINS, bid: 0, score: 0 });
      for (let tower = 0; tower < TOWERS; tower += 1) player.towers.push(0);
      state.players.set(`${seat}`, player);
    }
    this.state = state;
    // Else the first move would send the whole state again, and clients would add its towers a second time.
    this.broadcastPatch();
    this.onMessage("bid", (client, number) => this.bid(client, number));
  }

  onJoin(client, { seat }) {
    this.seats.set(client.sessionId, seat);
  }

  async bid(client, number) {
    const { state } = this;
    const seat = this.seats.get(client.sessionId);
    if (!allows(state, seat, number)) return;
    bid(state, state.players.get(`${seat}`), state.display.get(`${number % SLOTS}`), seat, number);
    if (append) await append(this.roomId, state.seq, seat, number);
    this.broadcastPatch();
  }
}

const http = createServer();
const transport = new WebSocketTransport({ server: http, pingInterval: 0 });
const server = new Server({ transport, greet: false, gracefullyShutdown: false, logger: { ...console, info() {}, debug() {} } });
server.define("bid", BidRoom);
await server.listen(0, "127.0.0.1");
console.log(`Colyseus is at http://127.0.0.1:${http.address().port}/`);
process.on("SIGTERM", () => process.exit(0));
