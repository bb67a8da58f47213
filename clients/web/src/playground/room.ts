/** A sandbox room for the playground: made, and its people seated, before the first look. */
import { base64url, LEVEL, type Guest, type Service } from "towerhall-client";

export interface Wanted {
  game: string;
  seats: number;
  speed: number;
  /** 32 bytes as base64url; empty: the server draws it. */
  entropy: string;
  others: "bots" | "people" | "empty";
}

export interface SandboxRoom {
  code: string;
  /** One person for each seat, and a watcher. */
  people: readonly Guest[];
}

const NAMES = ["Ada", "Ben", "Cyd", "Dee", "Eve"];
const WATCHER = "Wes";
const ENTROPY_BYTES = 32;

export function newEntropy(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(ENTROPY_BYTES)));
}

export function addressOf(origin: string, code: string): string {
  return `${origin.replace(/^http/, "ws")}/v1/rooms/${code}`;
}

export async function makeRoom(service: Service, { game, seats, speed, entropy, others }: Wanted): Promise<SandboxRoom> {
  const names = [...Array.from({ length: seats }, (_, seat) => NAMES[seat] ?? `P${seat + 1}`), WATCHER];
  const people = await Promise.all(names.map((name) => service.guest(name)));
  const sandbox = entropy ? { speed, entropy } : { speed };
  const { code } = await service.createRoom(people[0]!.token, { game, seats, sandbox });
  const url = addressOf(service.origin, code);
  const say = (at: number, ...commands: object[]) => told(url, people[at]!.token, commands);
  if (others === "bots") {
    const bots = Array.from({ length: seats - 1 }, () => ({ command: "add_bot" }));
    await say(0, { command: "sit", seat: 0 }, ...bots, { command: "start" });
  } else if (others === "people") {
    for (let seat = 0; seat < seats; seat += 1) await say(seat, { command: "sit", seat }, { command: "ready" });
    await say(0, { command: "start" });
  } else {
    await say(0, { command: "sit", seat: 0 });
  }
  return { code, people };
}

/** Give these commands on a connection of its own; done when each has its frame. */
function told(url: string, token: string, commands: object[]): Promise<void> {
  return new Promise((done, fail) => {
    const socket = new WebSocket(url, ["towerhall.v1.json"]);
    const origin = base64url(crypto.getRandomValues(new Uint8Array(8)));
    const send = (message: unknown) => socket.send(JSON.stringify(message));
    socket.onopen = () => send(["hello", { token, level: LEVEL, origin }]);
    socket.onclose = ({ reason }) => fail(new Error(reason || "going_away"));
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      const [name, ...fields] = JSON.parse(data) as [string, ...unknown[]];
      const cause = name === "frame" ? (fields[2] as unknown[]) : [];
      if (name === "rejected" || name === "error") fail(new Error(String(fields[name === "error" ? 0 : 1])));
      else if (name === "welcome") commands.forEach((body, at) => send(["command", at + 1, "", body]));
      else if (cause[1] === origin && cause[2] === commands.length) done();
      else return;
      if (name !== "welcome") socket.close();
    };
  });
}
