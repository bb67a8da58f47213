/** The Towerhall client for TypeScript: all that a page or a bot needs, and nothing of any game. */

export { CodecError, ServiceError } from "./errors";
export { Service } from "./http";
export { Lobby, lookAtLobby, type LobbyOptions } from "./lobby";
export { mergePatch } from "./merge_patch";
export { parseRecord } from "./record";
export { connect, Table, type ConnectOptions } from "./table";
export { Timeline } from "./timeline";
export type * from "./types";
