/** The Towerhall client for TypeScript: all that a page or a bot needs, and nothing of any game. */

export { base64url, fromBase64url } from "./bytes.ts";
export { type Codec, msgpack } from "./codec.ts";
export { CodecError, ServiceError } from "./errors.ts";
export { canonicalJson, link, mark, seal } from "./chain.ts";
export { compare, keptEvidence, viewHash, type Difference, type Evidence, type Place as SeenPlace } from "./evidence.ts";
export { Events, hearEvents, type EventsOptions } from "./events.ts";
export { Act, commitment, gameSeed, nonceHash } from "./fairness.ts";
export { Service } from "./http.ts";
export { Lobby, lookAtLobby, type LobbyOptions } from "./lobby.ts";
export { mergePatch } from "./merge_patch.ts";
export type { Keep } from "./nonce.ts";
export { parseRecord } from "./record.ts";
export { LEVEL, Replay, type Update } from "./replay.ts";
export { isSigned, keyId, type Keys, type Statement } from "./signature.ts";
export { connect, Table, type ConnectOptions } from "./table.ts";
export { Timeline } from "./timeline.ts";
export type * from "./types.ts";
export { checkRecord, sandboxSpeed, type Known } from "./verify.ts";
