/**
 * A small server that keeps the promises of the protocol, and a connection that breaks anywhere: whatever happens, every
 * command is done once and answered, every commit is seen once, and the view is the server's.
 */

import { expect, test, vi } from "vitest";
import { type Answer, connect, type Document, mergePatch, type Patch, type Table } from "../src";
import { BASE, faked, FakeSocket } from "./fake_socket";

/** Numbers that are the same for the same seed. */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Sent {
  n: number;
  tag: string;
  command: string;
}

/** One room with a log. It answers on whichever socket is the newest, unless that breaks. */
class Server {
  readonly log: unknown[][] = [];
  readonly done = new Map<number, number>();
  view: Document = { room: { status: "playing" } };
  lost = 0;
  readonly #chance: () => number;

  constructor(chance: () => number) {
    this.#chance = chance;
    this.commit([], { game: { turn: 0 } });
  }

  get tag(): string {
    return this.log.findLast((frame) => "game" in (frame[5] as Patch))?.[2] as string;
  }

  commit(cause: unknown[], patch: Patch): void {
    const seq = this.log.length + 1;
    // A store that lost commits writes other ones in their place, and the marks tell them apart.
    this.log.push(["frame", seq, `mark${seq}.${this.lost}`, cause, [], patch]);
    this.view = mergePatch(this.view, patch);
  }

  /** All that came from the client is worked on; what is to be said may not be heard any more. */
  serve(socket: FakeSocket): void {
    for (const [name, ...fields] of socket.took()) {
      if (name === "hello") this.#welcome(socket, fields[0] as { cursor?: [string, number, string]; origin: string });
      else if (name === "command") this.#command(socket, { n: fields[0] as number, tag: fields[1] as string, command: (fields[2] as { command: string }).command });
      else if (name === "ping") this.#say(socket, "pong", fields[0], [1, 1]);
      else if (name === "history") this.#say(socket, "history", this.log.slice(Number(fields[0]) - 1, Number(fields[0]) + 6), fields[1]);
      else throw new Error(String(name));
    }
  }

  /** The store forgets its newest commit; connected clients are told. */
  lose(socket: FakeSocket): void {
    if (this.log.length < 3) return;
    const [[, seq]] = [this.log.pop() as [string, number]];
    this.lost += 1;
    for (const [n, at] of this.done) if (at === seq) this.done.delete(n);
    this.view = this.log.reduce<Document>((view, frame) => mergePatch(view, frame[5] as Patch), { room: { status: "playing" } });
    this.#say(socket, "reset", this.#cursor(), this.view, 1);
    this.#offer(socket);
  }

  other(socket: FakeSocket): void {
    this.commit([1], this.#chance() < 0.5 ? { game: { turn: this.log.length } } : { room: { watched: this.log.length } });
    this.#tell(socket);
  }

  #welcome(socket: FakeSocket, { cursor, origin }: { cursor?: [string, number, string]; origin: string }): void {
    FakeSocket.origin = origin;
    const arrival = { you: "p_1", name: "Ada", level: 1, now: [1, 1], seat: 0 };
    const known = cursor && this.log[cursor[1] - 1]?.[2] === cursor[2];
    if (known && this.#chance() < 0.7) {
      this.#say(socket, "welcome", { ...arrival, cursor });
      for (const frame of this.log.slice(cursor[1])) this.#say(socket, ...frame);
    } else this.#say(socket, "welcome", { ...arrival, cursor: this.#cursor(), view: this.view, lost: cursor && !known ? 1 : 0 });
    this.#offer(socket);
  }

  #command(socket: FakeSocket, { n, tag, command }: Sent): void {
    const before = this.done.get(n);
    if (before !== undefined) this.#say(socket, "duplicate", n, before);
    else if (n <= Math.max(0, ...this.done.keys()) || (command === "bid" && tag !== this.tag)) this.#say(socket, "rejected", n, "stale", "P-43", {}, "");
    else {
      this.commit([0, FakeSocket.origin, n], command === "bid" ? { game: { bid: n } } : { room: { [`done:${n}`]: command } });
      this.done.set(n, this.log.length);
      this.#tell(socket);
    }
  }

  #tell(socket: FakeSocket): void {
    this.#say(socket, ...this.log.at(-1)!);
    if ("game" in (this.log.at(-1)![5] as Patch)) this.#offer(socket);
  }

  #offer(socket: FakeSocket): void {
    this.#say(socket, "offers", this.log.length, this.tag, [{ command: "bid" }]);
  }

  #cursor(): unknown[] {
    return [BASE, this.log.length, this.log.at(-1)![2]];
  }

  /** One in eight messages is not heard any more, nor is anything after it. */
  #say(socket: FakeSocket, ...message: unknown[]): void {
    if (this.#chance() < 0.125) socket.ends([1006, 1001, 1012][Math.floor(this.#chance() * 3)]);
    socket.says(...message);
  }
}

/** Let the client come back, and the server answer, until nothing is under way. */
async function settle(server: Server, table: Table): Promise<void> {
  for (let round = 0; round < 500 && (table.state !== "up" || table.unanswered > 0); round += 1) {
    await vi.advanceTimersByTimeAsync(table.state === "up" ? 1 : 20_000);
    open(FakeSocket.last);
    server.serve(FakeSocket.last);
  }
}

function open(socket: FakeSocket): void {
  socket.opens();
  socket.onopen = null;
}

test.each(Array.from({ length: 100 }, (_, seed) => seed + 1))("a course of %i", async (seed) => {
  const chance = chanceOf(seed);
  const server = new Server(chance);
  const table = connect({ origin: "http://play.example", code: "QJXKZB", token: "token", storage: null, ...faked() });
  let at = 0;
  const jumps: number[] = [];
  table.on((event) => {
    if (event.kind === "frame" && event.frame.seq !== at + 1 && at) jumps.push(event.frame.seq);
    if (event.kind === "frame" || event.kind === "reset") at = table.seq;
  });
  const answers: Promise<Answer>[] = [];
  for (let step = 0; step < 40; step += 1) {
    const dice = chance();
    if (dice < 0.4) answers.push(table.send({ command: chance() < 0.5 ? "bid" : "leave" }));
    else if (dice < 0.6) server.other(FakeSocket.last);
    else if (dice < 0.63) server.lose(FakeSocket.last);
    else if (dice < 0.7) FakeSocket.last.ends();
    else {
      open(FakeSocket.last);
      server.serve(FakeSocket.last);
      await vi.advanceTimersByTimeAsync(chance() * 1_000);
    }
  }
  await settle(server, table);
  const became = await Promise.all(answers);
  expect(table.view).toEqual(server.view);
  expect([table.seq, table.unanswered, jumps]).toEqual([server.log.length, 0, []]);
  const done = became.filter((answer) => answer.kind === "done");
  expect(became.every(({ kind }) => kind === "done" || kind === "rejected")).toBe(true);
  if (server.lost === 0) expect(done.length, "what was done was told to be done, and nothing else").toBe(server.done.size);
  const history = table.history(1);
  for (let round = 0; round < 200; round += 1) await settleOnce(server);
  expect((await history).map(({ seq }) => seq)).toEqual(server.log.map(([, seq]) => seq));
  table.close();
  vi.useRealTimers();
});

async function settleOnce(server: Server): Promise<void> {
  await vi.advanceTimersByTimeAsync(1_000);
  open(FakeSocket.last);
  server.serve(FakeSocket.last);
}
