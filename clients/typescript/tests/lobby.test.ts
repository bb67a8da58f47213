/** The live list of rooms, over a socket whose other end is the test. */

import { afterEach, expect, test, vi } from "vitest";
import { type Lobby, lookAtLobby } from "../src";
import { faked, FakeSocket } from "./fake_socket";

const ROOM = { code: "QJXKZB", game: "five_towers", status: "waiting", seats: 3, taken: 1, names: ["Ada"] };
let lobby: Lobby;

function look(filter?: { status: "waiting" }): FakeSocket {
  lobby = lookAtLobby({ origin: "https://play.example", token: "token", filter, ...faked() });
  return FakeSocket.last;
}

/** The greeting that it came with. */
function welcome(socket: FakeSocket, list: object): unknown {
  socket.opens();
  socket.says("welcome", { you: "p_1", name: "Ada", level: 1, now: [9, 0], list });
  return socket.took()[0];
}

afterEach(() => {
  lobby.close();
  vi.useRealTimers();
});

test("the list, its patches, another filter and a reset", () => {
  const socket = look();
  const changes: number[] = [];
  const stop = lobby.on(() => changes.push(Object.keys(lobby.rooms).length));
  expect([lobby.state, lobby.rooms, lobby.more]).toEqual(["connecting", {}, 0]);
  expect(socket.url).toBe("wss://play.example/v1/lobby");
  expect(welcome(socket, { rooms: { QJXKZB: ROOM }, more: 2, online: 7 })).toEqual(["hello", { token: "token", level: 6 }]);
  expect(lobby.online).toBe(7);
  expect([lobby.state, lobby.rooms, lobby.more]).toEqual(["up", { QJXKZB: ROOM }, 2]);
  const before = lobby.rooms["QJXKZB"];
  socket.says("patch", { rooms: { ABCDEF: { ...ROOM, code: "ABCDEF" } }, more: null });
  expect(lobby.rooms["QJXKZB"]).toBe(before);
  expect([Object.keys(lobby.rooms), lobby.more]).toEqual([["QJXKZB", "ABCDEF"], 0]);
  lobby.choose({ status: "playing" });
  expect(socket.took()).toEqual([["filter", { status: "playing" }]]);
  socket.says("reset", { rooms: {} });
  socket.says("paused", true);
  expect([lobby.rooms, lobby.paused]).toEqual([{}, true]);
  socket.says("confetti", 1);
  expect(changes).toEqual([1, 2, 0, 0]);
  stop();
  socket.says("paused", false);
  expect(changes).toHaveLength(4);
});

test("after a break it starts from the new list, with the filter that was chosen last", () => {
  const socket = look({ status: "waiting" });
  expect(welcome(socket, { rooms: { QJXKZB: ROOM } })).toEqual(["hello", { token: "token", level: 6, filter: { status: "waiting" } }]);
  lobby.choose({ free: 1 });
  socket.says("paused", true);
  socket.ends();
  expect([lobby.state, Object.keys(lobby.rooms)]).toEqual(["away", ["QJXKZB"]]);
  vi.advanceTimersByTime(250);
  expect(welcome(FakeSocket.last, { rooms: {} })).toEqual(["hello", { token: "token", level: 6, filter: { free: 1 } }]);
  expect([lobby.rooms, lobby.paused]).toEqual([{}, false]);
});

test("it is asked for a sign of life, and nonsense ends a connection", () => {
  const socket = look();
  welcome(socket, { rooms: {} });
  vi.advanceTimersByTime(15_000);
  expect(socket.took()).toEqual([["ping", 0]]);
  socket.says("pong", 0, [1, 0]);
  socket.says("patch", 7);
  expect(lobby.state).toBe("away");
  lobby.reconnectNow();
  expect(FakeSocket.all).toHaveLength(2);
  FakeSocket.last.opens();
  FakeSocket.last.says("welcome", { you: "p_1" });
  expect(lobby.state).toBe("away");
});

test("a token that is not taken ends it", () => {
  const socket = look();
  socket.opens();
  socket.says("error", "unauthorized", { detail: "old" }, "say who you are");
  socket.ends(4401);
  expect([lobby.state, lobby.ending?.name, lobby.retryAt]).toEqual(["ended", "unauthorized", null]);
});
