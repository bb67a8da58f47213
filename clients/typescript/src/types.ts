/** Everything that travels and everything that is told: types only, no code. Numbers such as P-33 are clauses of SPEC.md. */

/** Plain data (P-10): whole numbers, text, booleans, lists and maps. */
export type Value = number | string | boolean | Value[] | Document;
export type Document = { [key: string]: Value };
/** How one document becomes the next (P-33); null removes a key. */
export type Patch = { [key: string]: Value | Patch | null };

export type Subprotocol = "towerhall.v1.msgpack" | "towerhall.v1.json";
/** Where a client stands (P-20). */
export type Cursor = [base: string, seq: number, mark: string];
export type Fact = [name: string, ...fields: Value[]];
/** Who made a commit (P-31). */
export type Cause = [] | [seat: number] | [seat: number, origin: string, n: number];
/** What fills in a hint. */
export type Params = Record<string, number | string>;

/** One commit: what happened, for people; what changed, for machines. */
export interface Frame {
  seq: number;
  mark: string;
  cause: Cause;
  facts: Fact[];
  patch: Patch;
}

/** One command that may be given now (P-37). */
export interface Offer {
  command: string;
  ranges?: Record<string, [least: number, most: number]>;
  choices?: [params: Document, effect: Document][];
  unsure?: boolean;
}

export interface Command {
  command: string;
  [parameter: string]: Value;
}

export interface Rejection {
  kind: "rejected";
  code: string;
  /** The clause of the protocol or the section of the game's rules. */
  rule: string;
  params: Params;
  hint: string;
}

/** What became of a command. */
export type Answer = { kind: "done"; seq: number } | { kind: "accepted"; effect: Document } | Rejection;

/** `away`: a connection is tried again and again; `ended`: it is not, see `Ending`. */
export type LineState = "connecting" | "up" | "away" | "ended";

/** Why a connection is not opened again by itself. */
export interface Ending {
  /** The number of the close (P-101). */
  code: number;
  /** Its name: `unauthorized`, `room_gone`, `replaced`, `banned`, `level_too_old`, `done` and so on. */
  name: string;
  params: Params;
  hint: string;
  /** Whether `reconnectNow` makes sense, because a person wants to come back: after `replaced`, for instance. */
  mayReturn: boolean;
}

export type TableEvent =
  | { kind: "changed" }
  | { kind: "frame"; frame: Frame; before: Document; after: Document }
  | { kind: "reset"; lost: number }
  | { kind: "chat"; id: string; name: string; seat: number | null; text: string; wallMs: number }
  | { kind: "emote"; name: string; seat: number | null; emote: string }
  | { kind: "error"; code: string; params: Params; hint: string };

// What HTTP answers (P-112 to P-149)

export interface Guest {
  token: string;
  id: string;
  name: string;
}

export interface GameOption {
  values: Value[];
  default: Value;
  /** Codes of texts: the words are for the client. */
  text: string;
  texts: string[];
}

export interface GameDescription {
  name: string;
  text: string;
  version: number;
  seats: [least: number, most: number];
  options: Record<string, GameOption>;
  presets: Record<string, Document>;
  preset_texts: Record<string, string>;
  levels: string[];
  level_texts: Record<string, string>;
  reasons: Record<string, { rule: string; hint: string }>;
}

/** The whole of `GET /v1/games`. */
export interface Catalogue {
  games: GameDescription[];
  level: { oldest: number; newest: number };
  clocks: { turn_seconds: [number, number][]; bot_delay_ms: [number, number][] };
  limits: { message_bytes: number; spectators_per_room: number; name_characters: number; chat_characters: number };
}

export interface ListedRoom {
  code: string;
  game: string;
  status: "waiting" | "sealed" | "playing" | "over";
  seats: number;
  taken: number;
  names: string[];
  turn_seconds?: number;
  bot_delay_ms?: number;
}

export interface MyRoom extends ListedRoom {
  to_act: number[];
  your_turn: boolean;
  seat?: number;
  host?: boolean;
  private?: boolean;
  left_ms?: number;
}

export interface QuickplayRequest {
  game: string;
  options?: Document;
  seats?: number;
  turn_seconds?: number;
}

export interface NewRoomRequest extends QuickplayRequest {
  bot_delay_ms?: number;
  private?: boolean;
}

export interface NewRoom {
  code: string;
  uid: string;
  commitment: string;
  invite: string;
  /** Of a private room; told this once. */
  key?: string;
}

export interface Place {
  code: string;
  seat: number;
  invite: string;
}

export interface Link {
  /** `/#/l/CODE`, from the root of the page. */
  link: string;
  /** Wall time in ms. */
  expires: number;
}

/** Which rooms somebody wants to see (P-142). */
export interface LobbyFilter {
  game?: string;
  status?: "" | "waiting" | "sealed" | "playing";
  free?: number;
}

// The record of a game (P-120)

export type CommitRow = [seq: number, commitId: string, chain: string, blob: string, wallMs: number, servedMs: number];
export type Draw =
  | [deal: number, act: number, kind: "shuffle", items: (string | number)[], result: (string | number)[]]
  | [deal: number, act: number, kind: "below", bound: number, result: number];

export interface Deal {
  deal: number;
  outcome: "dealt" | "cancelled" | "closed";
  seats: { name: string; bot?: string; nonce_hash?: string; nonce?: string }[];
  unseated?: number[];
  seed?: string;
}

export interface GameResult {
  scores: number[];
  places: number[];
}

/** A finished game with its proof, as in the file, but for its frames, which are `Frame`s here. */
export interface GameRecord {
  format: 1;
  code: string;
  uid: string;
  game: string;
  version: number;
  options: Document;
  settings: Document;
  seats: ({ name: string; bot?: string } | null)[];
  commits: CommitRow[];
  chain: string;
  seal: string;
  frames: Frame[];
  draws: Draw[];
  proof: { commitment: string; secret: string; deals: Deal[] };
  result?: GameResult;
  closed?: string;
}

/** One thing that was checked about a record, and what it was judged by. */
export interface Check {
  name: string;
  ok: boolean;
  detail: Document;
}
