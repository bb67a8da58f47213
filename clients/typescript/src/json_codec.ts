/** The subprotocol `towerhall.v1.json`, as `towerhall-client/json`. Pages that do not import it do not load it. */

import type { Codec } from "./codec.ts";
import { CodecError } from "./errors.ts";
import { readJson, writtenJson } from "./json.ts";
import { FROM_SERVER } from "./limits.ts";

/** The subprotocol `towerhall.v1.json`: `connect({ ..., codec: json })` shows its messages as text in the tools of browsers. */
export const json: Codec = {
  subprotocol: "towerhall.v1.json",
  encode: writtenJson,
  decode(data, limits = FROM_SERVER) {
    if (typeof data !== "string") throw new CodecError("wrong_frame_type", "binary");
    return readJson(data, limits);
  },
};
