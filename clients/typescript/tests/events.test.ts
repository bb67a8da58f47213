/** All that concerns one person, over a socket whose other end is the test. */

import { afterEach, expect, test, vi } from "vitest";
import { type Events, hearEvents, Service } from "../src";
import { faked, FakeSocket } from "./fake_socket";

const ROOM = { code: "QJXKZB", game: "five_towers", status: "playing", seats: 3, taken: 3, names: ["Ada", "Deep", "Ben"], bot_accounts_at: [1], seat: 1 };
let events: Events;

function hear(rooms: object): FakeSocket {
  events = hearEvents({ origin: "https://play.example", token: "token", ...faked() });
  const socket = FakeSocket.last;
  welcome(socket, rooms);
  return socket;
}

function welcome(socket: FakeSocket, rooms: object): void {
  socket.onopen!();
  socket.says("welcome", { you: "p_1", name: "Deep", level: 6, now: [9, 0], list: { rooms } });
}

afterEach(() => {
  events?.close();
  vi.useRealTimers();
});

test("turns and invitations, as the list and its patches tell them", () => {
  const socket = hear({ QJXKZB: ROOM, ABCDEF: { ...ROOM, code: "ABCDEF", status: "waiting", invited: true } });
  expect(socket.url).toBe("wss://play.example/v1/me/events");
  expect(socket.took()).toEqual([["hello", { token: "token", level: 6 }]]);
  expect([events.turns, events.invitations]).toEqual([[], ["ABCDEF"]]);
  socket.says("patch", { rooms: { QJXKZB: { your_turn: true }, ABCDEF: null } });
  expect([events.turns, events.invitations]).toEqual([["QJXKZB"], []]);
  expect(events.rooms["QJXKZB"]).toEqual({ ...ROOM, your_turn: true });
});

test("after a break it starts from the new list", () => {
  const socket = hear({ QJXKZB: { ...ROOM, your_turn: true } });
  socket.ends();
  expect([events.state, events.turns]).toEqual(["away", ["QJXKZB"]]);
  vi.advanceTimersByTime(250);
  welcome(FakeSocket.last, {});
  expect([events.state, events.rooms, events.turns]).toEqual(["up", {}, []]);
});

test("a bot account is asked for, and invited by its id", async () => {
  const asked: [string, unknown][] = [];
  const service = new Service("https://play.example", (async (url: string, request: RequestInit) => {
    asked.push([url, JSON.parse(String(request.body))]);
    return new Response(JSON.stringify({ id: "cGVyc29uMDE" }));
  }) as typeof fetch);
  await service.guest("Ada");
  await service.guest("Deep", { botAccount: true });
  await service.invite("token", "QJXKZB", "cGVyc29uMDE");
  expect(asked).toEqual([
    ["https://play.example/v1/guests", { name: "Ada" }],
    ["https://play.example/v1/guests", { name: "Deep", bot_account: true }],
    ["https://play.example/v1/rooms/QJXKZB/invitations", { id: "cGVyc29uMDE" }],
  ]);
});
