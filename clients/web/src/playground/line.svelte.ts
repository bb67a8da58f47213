/** One connection of the playground after the other, with all that went over them. It decides nothing by itself. */
import { base64url, LEVEL, msgpack, type Codec, type Command, type Cursor } from "towerhall-client";
import { json } from "towerhall-client/json";

import { after, NOWHERE, type Place } from "./place";

export const CODECS = { msgpack, json } as const satisfies Record<string, Codec>;
export type CodecName = keyof typeof CODECS;
const MOST_ENTRIES = 400;
const ORIGIN_BYTES = 8;

export interface Entry {
  id: number;
  at: Date;
  from: "server" | "client" | "line";
  name: string;
  bytes: Uint8Array;
  document: unknown;
  /** Where this client is after it. */
  place: Place;
}

export class Line {
  entries = $state.raw<readonly Entry[]>([]);
  state = $state<"closed" | "opening" | "open">("closed");
  place = $state.raw<Place>(NOWHERE);
  /** The last message that was sent by hand or from offers. */
  sent = $state.raw<unknown>(null);
  #socket: WebSocket | null = null;
  #codec: Codec = msgpack;
  #origin = "";
  #n = 0;
  #id = 0;

  /** Forget all: another client begins. */
  begin(): void {
    this.cut();
    this.entries = [];
    this.place = NOWHERE;
    this.sent = null;
    this.#n = 0;
    this.#origin = base64url(crypto.getRandomValues(new Uint8Array(ORIGIN_BYTES)));
  }

  /** Connect at the place of an entry; null: ask for the whole view. */
  connect(url: string, token: string, name: CodecName, from: Entry | null): void {
    this.cut();
    const codec = CODECS[name];
    const socket = new WebSocket(url, [codec.subprotocol]);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#codec = codec;
    this.state = "opening";
    this.place = from ? { ...from.place, offers: [], tag: "" } : NOWHERE;
    const cursor: Cursor | null = this.place.cursor;
    socket.onopen = () => {
      this.state = "open";
      this.#send(["hello", { token, level: LEVEL, origin: this.#origin, ...(cursor && { cursor }) }]);
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      const document = codec.decode(data);
      this.place = after(this.place, document);
      this.#note("server", bytesOf(data), document);
    };
    socket.onclose = ({ code, reason }) => {
      if (this.#socket === socket) this.#over(["close", code, reason]);
    };
  }

  /** Drop the connection. The server is not told why. */
  cut(): void {
    const socket = this.#socket;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.#over(["cut"]);
  }

  /** Send any message. Raises a `CodecError` if the protocol cannot carry it. */
  send(message: unknown): void {
    this.#send(message);
    this.sent = message;
  }

  command(body: Command, dry: boolean): void {
    this.#n += 1;
    this.send(["command", this.#n, this.place.tag, body, dry]);
  }

  #send(message: unknown): void {
    const data = this.#codec.encode(message);
    if (this.state !== "open") return;
    this.#socket?.send(data as string | Uint8Array<ArrayBuffer>);
    this.#note("client", bytesOf(data), message);
  }

  #over(what: unknown[]): void {
    this.#socket = null;
    this.state = "closed";
    this.place = { ...this.place, offers: [], tag: "" };
    this.#note("line", new Uint8Array(), what);
  }

  #note(from: Entry["from"], bytes: Uint8Array, document: unknown): void {
    const name = String(Array.isArray(document) ? document[0] : document);
    const entry = { id: (this.#id += 1), at: new Date(), from, name, bytes, document, place: this.place };
    this.entries = [...this.entries.slice(1 - MOST_ENTRIES), entry];
  }
}

function bytesOf(data: ArrayBuffer | Uint8Array | string): Uint8Array {
  if (typeof data === "string") return new TextEncoder().encode(data);
  return data instanceof Uint8Array ? data : new Uint8Array(data);
}
