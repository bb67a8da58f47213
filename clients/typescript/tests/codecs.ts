/** Both codecs, and what vectors do with each of them. */

import { type Codec, msgpack } from "../src/codec";
import { json } from "../src/json_codec";
import type { Limits } from "../src/limits";

export const MSGPACK = msgpack;
export const JSON_TEXT = json;

export const encode = (value: unknown, codec: Codec): Uint8Array | string => codec.encode(value);
export const decode = (data: Uint8Array | string, codec: Codec, limits?: Limits): unknown => codec.decode(data, limits);
