/** Documents as they travel. The two subprotocols are twins (P-2): a document passes both or neither. */

import { CodecError } from "./errors.ts";
import { FROM_CLIENT, FROM_SERVER, type Limits } from "./limits.ts";
import { packed, unpacked } from "./msgpack.ts";
import type { Subprotocol } from "./types.ts";

/** One of the two subprotocols: how documents become what a WebSocket carries, and back. */
export interface Codec {
  readonly subprotocol: Subprotocol;
  /** A message of this side; `CodecError` if no message can hold the value. */
  encode(value: unknown): Uint8Array | string;
  /** Received data as one plain document; `CodecError` with a code of P-102 for anything else. */
  decode(data: ArrayBuffer | Uint8Array | string, limits?: Limits): unknown;
}

/** The subprotocol `towerhall.v1.msgpack`, which connections use unless another one is given. */
export const msgpack: Codec = {
  subprotocol: "towerhall.v1.msgpack",
  encode: packed,
  decode(data, limits = FROM_SERVER) {
    if (typeof data === "string") throw new CodecError("wrong_frame_type", "text");
    return unpacked(data instanceof Uint8Array ? data : new Uint8Array(data), limits);
  },
};

/** Those of P-70 but for the size of the whole, which each server sets for itself. */
const SENDABLE: Limits = { ...FROM_CLIENT, messageBytes: FROM_SERVER.messageBytes };

/**
 * The message as the server will read it, a copy; `CodecError` if it cannot. To be asked where a message is made: later
 * no caller could be told, for the server's error names no message (P-71), and a command would be sent again for ever.
 */
export function asRead<Message>(message: Message): Message {
  return msgpack.decode(msgpack.encode(message), SENDABLE) as Message;
}
