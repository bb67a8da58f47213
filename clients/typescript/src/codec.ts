/** Documents as msgpack or JSON: the two subprotocols are twins (P-2), so a document passes both or neither. */

import { CodecError } from "./errors";
import { readJson, writtenJson } from "./json";
import { FROM_CLIENT, FROM_SERVER, type Limits } from "./limits";
import { packed, unpacked } from "./msgpack";
import type { Subprotocol } from "./types";

export const MSGPACK: Subprotocol = "towerhall.v1.msgpack";
export const JSON_TEXT: Subprotocol = "towerhall.v1.json";
/** Those of P-70 but for the size of the whole, which each server sets for itself. */
const SENDABLE: Limits = { ...FROM_CLIENT, messageBytes: FROM_SERVER.messageBytes };

/** Encode a message of this side. */
export function encode(value: unknown, subprotocol: Subprotocol): Uint8Array | string {
  return subprotocol === MSGPACK ? packed(value) : writtenJson(value);
}

/**
 * The message as the server will read it, a copy; `CodecError` if it cannot. To be asked where a message is made: later
 * no caller could be told, for the server's error names no message (P-71), and a command would be sent again for ever.
 */
export function asRead<Message>(message: Message): Message {
  return decode(encode(message, MSGPACK), MSGPACK, SENDABLE) as Message;
}

/** Decode received data as one plain document; `CodecError` with a code of P-102 for anything else. */
export function decode(data: ArrayBuffer | Uint8Array | string, subprotocol: Subprotocol, limits: Limits = FROM_SERVER): unknown {
  const isText = typeof data === "string";
  if (isText !== (subprotocol === JSON_TEXT)) throw new CodecError("wrong_frame_type", isText ? "text" : "binary");
  if (isText) return readJson(data, limits);
  return unpacked(data instanceof Uint8Array ? data : new Uint8Array(data), limits);
}
