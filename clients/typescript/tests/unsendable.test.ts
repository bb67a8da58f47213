/** Messages that cannot travel are refused at the call, and do not affect others. */

import { describe, expect, test, vi } from "vitest";
import { type Command, lookAtLobby } from "../src";
import { msgpack } from "../src/codec";
import { json } from "../src/json_codec";
import { faked, FakeSocket, WAITING } from "./fake_socket";
import { join, playing, table } from "./joined";

/** Half a surrogate pair: what is left of an emoji that was cut in the middle. */
const HALF = "caf\ud83d";
const DEEP = [[[[[[1]]]]]];

const COMMANDS: [string, Command][] = [
  ["half a character", { command: "set_options", options: { preset: HALF } }],
  ["half a character in a key", { command: "set_options", options: { [HALF]: 1 } }],
  ["a name of it", { command: HALF }],
  ["a long text", { command: "add_bot", level: "a".repeat(1201) }],
  ["a fraction", { command: "bid", number: 0.5 }],
  ["too many levels", { command: "set_options", options: { preset: DEEP } }],
];

describe.each([msgpack, json])("by $subprotocol", (codec) => {
  test.each(COMMANDS)("a command with %s is refused at once", async (_name, command) => {
    const socket = playing({ codec });
    await expect(table.send(command)).rejects.toMatchObject({ name: "CodecError" });
    await expect(table.dry(command)).rejects.toMatchObject({ name: "CodecError" });
    expect([table.state, table.unanswered, socket.took()]).toEqual(["up", 0, []]);
    void table.send({ command: "start" });
    expect(socket.took()).toEqual([["command", 1, "", { command: "start" }, false]]);
  });

  test("so are chat, emotes and history", async () => {
    const socket = playing({ codec });
    expect(() => table.chat(HALF)).toThrow("half a surrogate pair");
    expect(() => table.chat("a".repeat(1201))).toThrow("malformed_message");
    expect(() => table.emote(HALF)).toThrow("half a surrogate pair");
    await expect(table.history(0.5)).rejects.toMatchObject({ code: "number_out_of_range" });
    expect([table.state, socket.took()]).toEqual(["up", []]);
    table.history(1).catch(() => undefined); // it is never answered
    table.chat("good evening \u{1f600}");
    expect(socket.took()).toEqual([["history", 1, 4], ["chat", "good evening \u{1f600}"]]);
  });

  test("and all of it also before the welcome", async () => {
    join({ codec });
    expect(() => table.chat(HALF)).toThrow("half a surrogate pair");
    await expect(table.history(1, 0.5)).rejects.toMatchObject({ code: "number_out_of_range" });
    await expect(table.send({ command: HALF })).rejects.toMatchObject({ name: "CodecError" });
    table.history(1, 1).catch(() => undefined); // it is never answered
    FakeSocket.last.welcomes(1, WAITING);
    expect([table.state, FakeSocket.last.took()]).toEqual(["up", [["history", 1, 1]]]);
  });

  test("a name that cannot be told ends the line", async () => {
    join({ codec, token: HALF });
    const pending = table.send({ command: "start" });
    FakeSocket.last.opens();
    expect([table.state, table.ending?.name, table.ending?.mayReturn]).toEqual(["ended", "malformed_message", false]);
    await expect(pending).rejects.toMatchObject({ code: "malformed_message" });
  });

  test("a filter that cannot be told is not chosen", () => {
    const options = { origin: "https://play.example", token: "token", codec, ...faked() };
    expect(() => lookAtLobby({ ...options, filter: { game: HALF } })).toThrow("half a surrogate pair");
    expect(FakeSocket.all).toEqual([]);
    const lobby = lookAtLobby({ ...options, filter: { free: 1 } });
    expect(() => lobby.choose({ game: HALF })).toThrow("half a surrogate pair");
    FakeSocket.last.opens();
    FakeSocket.last.says("welcome", { you: "p_1", name: "Ada", level: 1, now: [9, 0], list: { rooms: {} } });
    expect(() => lobby.choose({ game: HALF })).toThrow("half a surrogate pair");
    expect(FakeSocket.last.took()).toEqual([["hello", { token: "token", level: 6, filter: { free: 1 } }]]);
    lobby.close();
    join(); // which is closed after each test
  });
});

test("a command is sent again as it was when it was given", () => {
  const socket = playing();
  const cards: (string | number)[] = ["sand"];
  void table.send({ command: "bid", cards });
  const sent = socket.took();
  cards.push(0.5);
  socket.ends();
  vi.advanceTimersByTime(250);
  FakeSocket.last.welcomes(4);
  expect([table.state, FakeSocket.last.took()]).toEqual(["up", sent]);
});
