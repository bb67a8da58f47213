/** What this client adds to the shuffle: shown by its hash, kept, and opened when it is due. */

import { describe, expect, test } from "vitest";
import type { ConnectOptions } from "../src";
import { base64url } from "../src/bytes";
import { nonceHash } from "../src/fairness";
import { BASE, FakeSocket, PLAYING, UID, WAITING } from "./fake_socket";
import { join, table } from "./joined";

const SEALED = { room: { ...PLAYING.room, status: "sealed", seats: { "0": { name: "Ada", nonce: "sealed" } } } };
const UID_BYTES = Uint8Array.from({ length: 16 }, (_, at) => at);

describe("nonces", () => {
  const drawn = Uint8Array.from({ length: 32 }, (_, at) => at);
  const fresh = Uint8Array.from({ length: 32 }, () => 7);
  const hash = base64url(nonceHash(UID_BYTES, drawn));

  function seated(storage: ConnectOptions["storage"]): FakeSocket {
    join({ storage, randomBytes: (size) => (size === 8 ? new Uint8Array(8) : drawn) });
    FakeSocket.last.welcomes(1, WAITING, { seat: -1 });
    void table.sit(0);
    expect(FakeSocket.last.took()).toEqual([["command", 1, "", { command: "sit", seat: 0, nonce: hash }, false]]);
    FakeSocket.last.frame(2, [-1, FakeSocket.origin, 1], { room: { seats: { "0": { name: "Ada", nonce: "sealed" } } } });
    FakeSocket.last.says("seat", 0);
    return FakeSocket.last;
  }

  test("are shown by their hash, kept, and opened when the deal is sealed", () => {
    const socket = seated(null);
    void table.ready();
    expect(socket.took()).toEqual([["command", 2, "", { command: "ready" }, false]]);
    socket.frame(3, [0, FakeSocket.origin, 2], { room: { seats: { "0": { ready: true } } } });
    socket.frame(4, [], { room: { status: "sealed", deal: 1 } });
    expect(socket.took()).toEqual([["command", 3, "", { command: "open", nonce: base64url(drawn) }, false]]);
    socket.frame(5, [1, "somebody", 1], { room: { seats: { "1": { nonce: "open" } } } });
    expect(socket.took(), "that one is on its way").toEqual([]);
  });

  test("are opened once more when the view was replaced", () => {
    const socket = seated(null);
    socket.frame(3, [], { room: { status: "sealed", deal: 1 } });
    expect(socket.took()).toHaveLength(1);
    socket.says("rejected", 2, "not_sealed", "P-54", {}, "");
    socket.says("presence", [0], 0);
    expect(socket.took()).toEqual([]);
    socket.says("reset", [BASE, 3, "mark3"], SEALED, 0);
    expect(socket.took()).toEqual([["command", 3, "", { command: "open", nonce: base64url(drawn) }, false]]);
  });

  test("are forgotten with the seat", () => {
    const socket = seated(null);
    void table.send({ command: "stand" });
    socket.took();
    socket.frame(3, [0, FakeSocket.origin, 2], { room: { seats: { "0": null } } });
    socket.says("reset", [BASE, 4, "mark4"], SEALED, 0);
    expect(socket.took(), "that hash is not ours").toEqual([]);
  });

  test("a player who sits down before the room is known takes part as well", () => {
    join({ storage: null, randomBytes: (size) => drawn.slice(0, size) });
    void table.sit();
    FakeSocket.last.welcomes(1, WAITING, { seat: -1 });
    expect(FakeSocket.last.took()).toEqual([["command", 1, "", { command: "sit", nonce: hash }, false]]);
  });

  test("outlive a reload in the ten seconds that there are", () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    };
    seated(storage);
    table.close();
    join({ storage });
    FakeSocket.last.welcomes(4, SEALED);
    expect(FakeSocket.last.took()).toEqual([["command", 1, "", { command: "open", nonce: base64url(drawn) }, false]]);
    FakeSocket.last.frame(5, [0, FakeSocket.origin, 1], { room: { seats: { "0": { nonce: "open" } } } });
    expect(kept.size).toBe(0);
  });

  test.each([true, false])("are replaced while there is time if this client does not know them (ready: %s)", (ready) => {
    join({ storage: null, randomBytes: (size) => fresh.slice(0, size) });
    const holder = { name: "Ada", nonce: "sealed" };
    const seats = { "0": ready ? { ...holder, ready } : holder };
    FakeSocket.last.welcomes(3, { room: { uid: UID, status: "waiting", seats } });
    const body = { command: "ready", nonce: base64url(nonceHash(UID_BYTES, fresh)) };
    expect(FakeSocket.last.took()).toEqual([["command", 1, "", ready ? body : { ...body, ready: false }, false]]);
    FakeSocket.last.frame(4, [1], {});
    expect(FakeSocket.last.took(), "that one is on its way").toEqual([]);
    FakeSocket.last.frame(5, [0, FakeSocket.origin, 1], {});
    FakeSocket.last.frame(6, [], { room: { status: "sealed" } });
    expect(FakeSocket.last.took()).toEqual([["command", 2, "", { command: "open", nonce: base64url(fresh) }, false]]);
  });

  test("a refusal does not change by asking again", () => {
    join({ storage: null });
    FakeSocket.last.welcomes(3, { room: { uid: UID, status: "waiting", seats: { "0": { name: "Ada", nonce: "sealed" } } } });
    expect(FakeSocket.last.took()).toHaveLength(1);
    FakeSocket.last.says("rejected", 1, "not_waiting", "P-52", {}, "");
    FakeSocket.last.says("presence", [0], 0);
    expect(FakeSocket.last.took()).toEqual([]);
    FakeSocket.last.frame(4, [], {});
    expect(FakeSocket.last.took()).toHaveLength(1);
  });

  test("a store that fails does not keep players from playing", () => {
    const failing = (): never => {
      throw new Error("full");
    };
    seated({ getItem: failing, setItem: failing, removeItem: failing });
    expect(table.state).toBe("up");
  });
});
