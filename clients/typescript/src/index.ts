/** The Towerhall client for TypeScript: all that a page or a bot needs, and nothing of any game. */

export { base64url, fromBase64url } from "./bytes";
export { decode, encode } from "./codec";
export { CodecError, ServiceError } from "./errors";
export { canonicalJson, link, mark, seal } from "./chain";
export { compare, keptEvidence, viewHash, type Difference, type Evidence, type Place as SeenPlace } from "./evidence";
export { Act, commitment, gameSeed, nonceHash } from "./fairness";
export { Service } from "./http";
export { Lobby, lookAtLobby, type LobbyOptions } from "./lobby";
export { mergePatch } from "./merge_patch";
export type { Keep } from "./nonce";
export { parseRecord } from "./record";
export { Replay, type Happening } from "./replay";
export { isSigned, keyId, type Keys, type Statement } from "./signature";
export { connect, Table, type ConnectOptions } from "./table";
export { Timeline } from "./timeline";
export type * from "./types";
export { verifyShuffle, type Known } from "./verify";
