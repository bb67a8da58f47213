/** Everything that travels and everything that is told: types only, no code. Numbers such as P-33 are clauses of SPEC.md. */

/** Plain data (P-10): whole numbers, text, booleans, lists and maps. */
export type Value = number | string | boolean | Value[] | Document;
export type Document = { [key: string]: Value };
/** How one document becomes the next (P-33); null removes a key. */
export type Patch = { [key: string]: Value | Patch | null };

export type Subprotocol = "towerhall.v1.msgpack" | "towerhall.v1.json";
/** The position of a client (P-20). */
export type Cursor = [base: string, seq: number, mark: string];
export type Fact = [name: string, ...fields: Value[]];
/** The author of a commit (P-31). */
export type Cause = [] | [seat: number] | [seat: number, origin: string, n: number];
/** Parameters of a hint. */
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

/** The outcome of a command. */
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
  /** `who` is the id of the speaker in this room (P-19): names may be shared. Empty in rooms of older servers. */
  | { kind: "chat"; id: string; name: string; seat: number | null; text: string; wallMs: number; who: string }
  | { kind: "emote"; name: string; seat: number | null; emote: string; who: string }
  /** Command n waits for a search of the server: `ahead` others come first; 0: it has begun (P-48). */
  | { kind: "searching"; n: number; ahead: number }
  | { kind: "error"; code: string; params: Params; hint: string };

// Answers over HTTP (P-112 to P-149)

export interface Guest {
  token: string;
  id: string;
  name: string;
  /** When the token ends: wall time in ms. */
  expires?: number;
  /** Whether it is a bot account (P-157). */
  bot_account?: boolean;
  /** The device of an account to which this token belongs. */
  device?: string;
}

/** A device of an account is signed in. */
export interface SignedIn extends Guest {
  device: string;
  /** Id of the passkey that was added. */
  passkey?: string;
  /** Shown only once: the code by which a person comes back without a passkey. */
  recovery_code?: string;
}

/** A passkey of the own account. Times are wall times in ms. */
export interface ShownPasskey {
  passkey: string;
  name: string;
  /** The domain to which it belongs. */
  site: string;
  since: number;
  used?: number;
  /** Whether its maker copies it to the other devices of the person. */
  synced?: boolean;
}

/** A device that is signed in. */
export interface ShownDevice {
  device: string;
  /** Browser and system; may be empty. */
  name: string;
  since: number;
  /** To the day. */
  seen: number;
  own?: boolean;
}

/** The own account. */
export interface Account {
  passkeys: ShownPasskey[];
  devices: ShownDevice[];
  since?: number;
  /** When the recovery code was made. */
  recovery?: number;
  /** Whether this device has signed in within the last 15 minutes. */
  fresh?: boolean;
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
  clocks: { turn_seconds: [number, number][]; bot_delay_ms: [number, number][]; beat_ms?: [number, number][] };
  limits: { message_bytes: number; spectators_per_room: number; name_characters: number; chat_characters: number; absent_seconds?: number };
  /** What a sandbox takes, the least and the most; left out: this server offers no sandbox rooms (P-190). */
  sandbox?: { speed: [number, number]; pause_ms: [number, number]; commits: [number, number] };
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
  beat_ms?: number;
  /** Whether bot accounts may sit without an invitation (P-157). */
  bot_accounts?: boolean;
  /** The places that bot accounts have in `names`. */
  bot_accounts_at?: number[];
  /** A sandbox room: the factor by which its clocks are faster; left out: an ordinary room. */
  sandbox?: number;
  rated?: boolean;
  /** Name of the host, if the host sits there: in `GET /v1/rooms/CODE` only. */
  host?: string;
}

/** A page of the games at play. */
export interface LiveGames {
  rooms: ListedRoom[];
  /** Number of games behind this page. */
  more?: number;
  /** `after` of the next page. */
  next?: string;
  /** The game to show first. */
  featured?: ListedRoom & { watchers?: number };
}

export interface LiveWish {
  game?: string;
  after?: string;
  limit?: number;
}

/** What a watcher of a room sees at one moment. */
export interface Look {
  seq: number;
  view: Document;
}

export interface MyRoom extends Omit<ListedRoom, "host"> {
  to_act: number[];
  your_turn: boolean;
  seat?: number;
  host?: boolean;
  private?: boolean;
  left_ms?: number;
  /** Of this person, once the game has a result. */
  place?: number;
  /** The room is gone, and its record is left. */
  gone?: boolean;
}

/** The place of a person in a room, as events tell it (P-155). */
export interface PersonPlace extends Omit<ListedRoom, "host"> {
  seat?: number;
  host?: boolean;
  private?: boolean;
  your_turn?: boolean;
  /** Of this person, once the game has a result. */
  place?: number;
  closed?: string;
  invited?: boolean;
  kicked?: boolean;
}

export interface QuickplayRequest {
  game: string;
  options?: Document;
  seats?: number;
  turn_seconds?: number;
  /** Whether the game counts for ratings: all seats are people, who agree by sitting down. */
  rated?: boolean;
}

export interface NewRoomRequest extends QuickplayRequest {
  bot_delay_ms?: number;
  beat_ms?: number;
  private?: boolean;
  bot_accounts?: boolean;
  /** For a server that offers sandbox rooms (P-190). The same entropy makes the same game again. */
  sandbox?: { speed?: number; entropy?: string };
}

export interface NewRoom {
  code: string;
  uid: string;
  commitment: string;
  invite: string;
  /** Key of a private room; given only here. */
  key?: string;
  /** The server's signature of the commitment and the first place of the log (P-124). */
  signed?: { seq: number; chain: string; key: string; signature: string };
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

/** The rooms that the client wants to see (P-142). */
export interface LobbyFilter {
  game?: string;
  status?: "" | "waiting" | "sealed" | "playing";
  free?: number;
  /** `next` of the page before. */
  after?: string;
  /** Most rooms of the page. */
  limit?: number;
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
  format: 2;
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
  /** The server's signature of the end (P-124). */
  signed?: { key: string; signature: string };
  /** The proof that the public log of the service has the end (P-186). */
  log?: Logged;
}

/** The proof that a leaf is in a log: the hashes that lead from it to the root of a signed checkpoint. */
export interface Logged {
  index: number;
  size: number;
  proof: string[];
  checkpoint: string;
}

/** One thing that was checked about a record, and what it was judged by. */
export interface Check {
  name: string;
  /** True as well if it was not checked. */
  ok: boolean;
  detail: Document;
  /** Why it was not checked here, if so: `no_signature`, `not_logged`, `no_key`, `no_ed25519`, `no_evidence`. */
  skipped?: string;
}

/** A person as others see them. */
export interface Profile {
  handle: string;
  name: string;
  since: number;
  statistics: { game: string; seats: number; games: number; places: number[]; best: number; sum: number }[];
  /** `change`: by how many points the newest rated game changed them. */
  ratings: { game: string; points: number; games: number; change: number; rank?: number; provisional?: boolean }[];
}

/** The own profile. `handle` and `since` are left out while nothing is kept of the person. */
export interface OwnProfile extends Omit<Profile, "handle" | "since"> {
  handle?: string;
  since?: number;
  id: string;
  hidden: boolean;
  chat: boolean;
}

export interface PastGamesWish {
  game?: string;
  seats?: number;
  before?: number;
  most?: number;
}

export interface PastGames {
  games: PastGame[];
  /** Where the next page begins; left out on the last one. */
  before?: number;
}

export interface PastGame {
  number: number;
  code: string;
  game: string;
  version: number;
  ended: number;
  replay: string;
  seats: PastSeat[];
  rated?: boolean;
  private?: boolean;
}

/** Without `name` and `bot`: a person who is hidden or was erased. */
export interface PastSeat {
  place: number;
  score: number;
  name?: string;
  handle?: string;
  own?: boolean;
  bot?: string;
  stand_in?: boolean;
  resigned?: boolean;
}

export interface Leaderboard {
  game: string;
  people: { rank: number; handle: string; name: string; points: number; games: number }[];
  total: number;
  /** `first` of the next page. */
  next?: number;
}

export interface OtherPerson {
  handle: string;
  name?: string;
}

export interface People {
  friends: OtherPerson[];
  asked: OtherPerson[];
  asking: OtherPerson[];
  blocked: OtherPerson[];
  met: OtherPerson[];
}

/** A person by handle, or by a seat in a room. */
export interface Whom {
  handle?: string;
  room?: string;
  seat?: number;
  remove?: boolean;
}

/** A device that is told by push, as its browser describes its subscription (P-217). */
export interface Device {
  endpoint: string;
  p256dh: string;
  auth: string;
  /** A BCP 47 tag. */
  language?: string;
}

/** Of a person in a room, by seat or id, or by `handle` alone. */
export interface NewReport {
  room?: string;
  handle?: string;
  reason: "chat" | "name" | "cheating" | "leaving" | "other";
  seat?: number;
  id?: string;
  text?: string;
  lines?: string[];
}
