/** A table whose server is the test. */

import { afterEach, vi } from "vitest";
import { connect, type ConnectOptions, type Table, type TableEvent } from "../src";
import { faked, FakeSocket, PLAYING } from "./fake_socket";

export let table: Table;

export function join(options: Partial<ConnectOptions> = {}): Table {
  table = connect({ origin: "http://play.example/", code: "QJXKZB", token: "token", ...faked(), ...options });
  return table;
}

/** Joined to a game in which it is Ada's turn. */
export function playing(options: Partial<ConnectOptions> = {}): FakeSocket {
  join(options);
  FakeSocket.last.welcomes(4, PLAYING);
  FakeSocket.last.offers(4);
  return FakeSocket.last;
}

export function heard(): TableEvent[] {
  const events: TableEvent[] = [];
  table.on((event) => void (event.kind !== "changed" && events.push(event)));
  return events;
}

afterEach(() => {
  table.close();
  vi.useRealTimers();
});
