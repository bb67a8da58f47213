import { base64url } from "./bytes.ts";
import { ServiceError } from "./errors.ts";
import { isMap } from "./merge_patch.ts";
import { parseRecord } from "./record.ts";
import type { Keys } from "./signature.ts";
import type {
  Account,
  Catalogue,
  GameDescription,
  Document,
  GameRecord,
  Guest,
  Leaderboard,
  Link,
  ListedRoom,
  LiveGames,
  LiveWish,
  Look,
  MyRoom,
  Device,
  NewReport,
  NewRoom,
  NewRoomRequest,
  OwnProfile,
  Params,
  PastGames,
  PastGamesWish,
  People,
  Place,
  Profile,
  QuickplayRequest,
  SignedIn,
  Whom,
} from "./types.ts";

const PATIENCE_MS = 15_000;

/** Requests over HTTP: a token, the list of rooms, a new room, a record. */
export class Service {
  readonly origin: string;
  readonly #fetch: typeof fetch;

  constructor(origin: string, fetcher?: typeof fetch) {
    this.origin = origin.replace(/\/+$/, "");
    // A browser's fetch must be called on the window, so it is not kept as a method of this object.
    this.#fetch = fetcher ?? ((input, init) => fetch(input, init));
  }

  /**
   * Get a new identity. Keep the token: it is the only proof. A program that plays for itself asks for a bot account, which
   * others see as one.
   */
  guest(name: string, { botAccount = false } = {}): Promise<Guest> {
    return this.#ask("POST", "/v1/guests", { body: botAccount ? { name, bot_account: true } : { name } });
  }

  /** The games with their options, presets, seats and levels of bots. */
  async games(): Promise<GameDescription[]> {
    return (await this.catalogue()).games;
  }

  /** The games, and what forms should know besides: clocks and limits. */
  catalogue(): Promise<Catalogue> {
    return this.#ask("GET", "/v1/games");
  }

  /** The open rooms, to join or watch. */
  async rooms(): Promise<ListedRoom[]> {
    return (await this.#ask<{ rooms: ListedRoom[] }>("GET", "/v1/rooms")).rooms;
  }

  /** A page of the public games at play, and the one to show first. */
  live(wish: LiveWish = {}): Promise<LiveGames> {
    return this.#ask("GET", `/v1/live${query({ ...wish })}`);
  }

  /** What a watcher of a room sees, some seconds old at most. A private room needs its key. To follow a game closely, connect to it. */
  look(code: string, key = ""): Promise<Look> {
    return this.#ask("GET", `${roomPath(code)}/view`, { key, cache: "no-cache" });
  }

  /** One room, over or not. A private one needs its key. */
  room(code: string, key = ""): Promise<ListedRoom> {
    return this.#ask("GET", roomPath(code), { key });
  }

  /** Open a room, as its host. What is left out is the default of the service. */
  createRoom(token: string, request: NewRoomRequest): Promise<NewRoom> {
    return this.#ask("POST", "/v1/rooms", { token, body: request });
  }

  /** Invite a person, or a bot account, by the id of their token; hosts only. */
  async invite(token: string, code: string, person: string): Promise<void> {
    await this.#ask("POST", `${roomPath(code)}/invitations`, { token, body: { id: person } });
  }

  /** A seat beside others who want the same. Connect to the room, and send `ready`. */
  quickplay(token: string, request: QuickplayRequest): Promise<Place> {
    return this.#ask("POST", "/v1/quickplay", { token, body: request });
  }

  /** The rooms in which this person has a place, and whose turn it is there. */
  async myRooms(token: string): Promise<MyRoom[]> {
    return (await this.#ask<{ rooms: MyRoom[] }>("GET", "/v1/me/rooms", { token })).rooms;
  }

  /** A link by which another device becomes this person, once. */
  newLink(token: string, room = ""): Promise<Link> {
    return this.#ask("POST", "/v1/me/links", { token, body: room ? { room } : {} });
  }

  /** Become the person who made the link. */
  useLink(code: string): Promise<Guest & { room?: string }> {
    return this.#ask("POST", "/v1/links", { body: { code } });
  }

  /** A token of the same person with another name, which their seats take as well. The old token keeps the old name. */
  rename(token: string, name: string): Promise<Guest> {
    return this.#ask("POST", "/v1/me/name", { token, body: { name } });
  }

  /** Another token of the same person with the same end. Keep it before you `revoke` the others. */
  newerToken(token: string): Promise<Guest> {
    return this.#ask("POST", "/v1/me/tokens", { token, body: {} });
  }

  /**
   * End all tokens of this person: log out everywhere. With `others` this token, which came from
   * `newerToken`, and newer ones go on: log out everywhere else.
   */
  async revoke(token: string, { others = false } = {}): Promise<void> {
    await this.#ask("POST", "/v1/me/revoke", { token, body: others ? { others } : {} });
  }

  myProfile(token: string): Promise<OwnProfile> {
    return this.#ask("GET", "/v1/me/profile", { token });
  }

  /** Hide the profile or show it, turn chat on or off; the own profile after that. */
  choose(token: string, choices: { hidden?: boolean; chat?: boolean }): Promise<OwnProfile> {
    return this.#ask("POST", "/v1/me/profile", { token, body: choices });
  }

  /** The profile of another person; `not_found` for those who hide. */
  profile(token: string, handle: string): Promise<Profile> {
    return this.#ask("GET", `/v1/people/${encodeURIComponent(handle)}`, { token });
  }

  /** The profile of the person in a seat of a room; `not_found` for bots, and for those who hide. */
  profileAt(token: string, room: string, seat: number, key = ""): Promise<Profile> {
    return this.#ask("GET", `/v1/people${query({ room, seat })}`, { token, key });
  }

  /** A page of finished games, the newest first: one's own, or those of a person. */
  pastGames(token: string, wish: PastGamesWish = {}, handle = ""): Promise<PastGames> {
    const path = handle ? `/v1/people/${encodeURIComponent(handle)}/games` : "/v1/me/games";
    return this.#ask("GET", path + query({ ...wish }), { token });
  }

  /** A page of the leaderboard of a game, from the rank `first` on. */
  leaderboard(game: string, wish: { first?: number; most?: number } = {}): Promise<Leaderboard> {
    return this.#ask("GET", `/v1/leaderboards/${encodeURIComponent(game)}${query(wish)}`);
  }

  /** Friends, those asked and asking, those blocked, and recent opponents. */
  people(token: string): Promise<People> {
    return this.#ask("GET", "/v1/me/people", { token });
  }

  /** Choose a person as a friend, or take that back; the lists after that. */
  befriend(token: string, whom: Whom, key = ""): Promise<People> {
    return this.#ask("POST", "/v1/me/friends", { token, key, body: whom });
  }

  /** Block a person, or lift that; the lists after that. */
  block(token: string, whom: Whom, key = ""): Promise<People> {
    return this.#ask("POST", "/v1/me/blocks", { token, key, body: whom });
  }

  /** The ids in a room of the people whom this person has blocked: show no chat of theirs. */
  async blockedIds(token: string, room: string, key = ""): Promise<string[]> {
    return (await this.#ask<{ ids: string[] }>("GET", `/v1/me/blocks${query({ room })}`, { token, key })).ids;
  }

  /** Report a person in a room, or by handle; how many lines of chat go with the report. */
  async report(token: string, report: NewReport, key = ""): Promise<number> {
    return (await this.#ask<{ lines: number }>("POST", "/v1/me/reports", { token, key, body: report })).lines;
  }

  /** The own account: passkeys and devices, which are empty lists without one. */
  account(token: string): Promise<Account> {
    return this.#ask("GET", "/v1/me/account", { token });
  }

  /** What `navigator.credentials.create` takes, as JSON. Programs name the origin of the page; browsers send it themselves. */
  async passkeyOptions(token: string, { origin = this.origin } = {}): Promise<Document> {
    return (await this.#ask<{ options: Document }>("POST", "/v1/me/passkeys/options", { token, page: origin, body: {} })).options;
  }

  /** Add the passkey that a browser has made. The first one makes the account, and its recovery code is shown this once. */
  addPasskey(token: string, credential: Document, { name = "" } = {}): Promise<SignedIn> {
    return this.#ask("POST", "/v1/me/passkeys", { token, body: name ? { credential, name } : { credential } });
  }

  /** Remove a passkey, for example a lost one; the account after that. */
  removePasskey(token: string, passkey: string): Promise<Account> {
    return this.#ask("POST", "/v1/me/passkeys/remove", { token, body: { passkey } });
  }

  /** Another recovery code. The one before is dead. */
  async newRecoveryCode(token: string): Promise<string> {
    return (await this.#ask<{ recovery_code: string }>("POST", "/v1/me/recovery", { token, body: {} })).recovery_code;
  }

  /** Log one device of this person out; the account after that. */
  logOut(token: string, device: string): Promise<Account> {
    return this.#ask("POST", "/v1/me/devices/revoke", { token, body: { device } });
  }

  /** What `navigator.credentials.get` takes, as JSON. With a token its own device signs in anew. `origin` as in `passkeyOptions`. */
  async signInOptions(token = "", { origin = this.origin } = {}): Promise<Document> {
    return (await this.#ask<{ options: Document }>("POST", "/v1/sign-in/options", { token, page: origin, body: {} })).options;
  }

  /** Sign in by what a passkey has signed, with the same token as the options. */
  signIn(credential: Document, token = ""): Promise<SignedIn> {
    return this.#ask("POST", "/v1/sign-in", { token, body: { credential } });
  }

  /**
   * Sign in by recovery code. The answer has the next one. If no answer comes, ask again with the same `nonce`: 16 random bytes
   * as base64url, which this call chooses unless given.
   */
  recover(code: string, nonce = base64url(crypto.getRandomValues(new Uint8Array(16)))): Promise<SignedIn> {
    return this.#ask("POST", "/v1/sign-in/recovery", { body: { code, nonce } });
  }

  /** All that the service keeps of this person. */
  export(token: string): Promise<Document> {
    return this.#ask("GET", "/v1/me/export", { token });
  }

  /** Erase this person, whose id is the proof that it is meant. All tokens end. */
  async erase(token: string, id: string): Promise<void> {
    await this.#ask("POST", "/v1/me/erase", { token, body: { id } });
  }

  /** The key that a push subscription for this service needs; `ServiceError` with `no_push` if the service sends no push messages. */
  async pushKey(): Promise<string> {
    return (await this.#ask<{ key: string }>("GET", "/v1/push")).key;
  }

  /** Have a device told by push when this person is away. Until when the service keeps it, in milliseconds since 1970: do it again before that. */
  async subscribe(token: string, device: Device): Promise<number> {
    return (await this.#ask<{ expires: number }>("POST", "/v1/me/subscriptions", { token, body: device })).expires;
  }

  /** Have a device of this person told nothing any more. */
  async unsubscribe(token: string, endpoint: string): Promise<void> {
    await this.#ask("DELETE", "/v1/me/subscriptions", { token, body: { endpoint } });
  }

  /** The record of a game that is over; `ServiceError` with `record_not_ready` before that. */
  async record(code: string, key = ""): Promise<GameRecord> {
    return parseRecord(await this.recordText(code, key));
  }

  /** The same as the text of a file, to be kept. */
  recordText(code: string, key = ""): Promise<string> {
    return this.#text("GET", `${roomPath(code)}/record`, { key });
  }

  /** The keys that the server signs with, or has signed with, by their names; none if it has no key. */
  async keys(): Promise<Keys> {
    try {
      const { keys = [] } = await this.#ask<{ keys?: { key: string; public: string }[] }>("GET", "/.well-known/towerhall");
      return Object.fromEntries(keys.map(({ key, public: text }) => [key, text]));
    } catch {
      return {};
    }
  }

  async #ask<Answer>(method: string, path: string, more: More = {}): Promise<Answer> {
    const text = await this.#text(method, path, more);
    const answer = parsed(text);
    if (!isMap(answer)) throw new ServiceError("bad_answer", "this is no answer of the service");
    return answer as Answer;
  }

  async #text(method: string, path: string, { token, key, page, body, cache = "no-store" }: More): Promise<string> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (token) headers["authorization"] = `Bearer ${token}`;
    if (key) headers["towerhall-key"] = key;
    // A browser keeps to the truth and ignores this.
    if (page) headers["origin"] = page;
    if (body) headers["content-type"] = "application/json";
    const request: RequestInit = { method, headers, cache, signal: AbortSignal.timeout(PATIENCE_MS) };
    if (body) request.body = JSON.stringify(body);
    let status: number;
    let text: string;
    try {
      const answer = await this.#fetch(this.origin + path, request);
      status = answer.status;
      text = await answer.text();
    } catch (error) {
      throw new ServiceError("unreachable", error instanceof Error ? error.message : String(error));
    }
    if (status >= 400) throw refusal(status, text);
    return text;
  }
}

interface More {
  token?: string;
  key?: string;
  page?: string;
  body?: object;
  /** `no-cache`: the browser asks whether its copy is still right. */
  cache?: RequestCache;
}

/** The error that an answer tells of; in any case one with its status. */
function refusal(status: number, text: string): ServiceError {
  const answer = parsed(text);
  const error = isMap(answer) ? answer["error"] : null;
  if (!isMap(error) || typeof error["code"] !== "string")
    return new ServiceError("bad_answer", `the service answered ${status}`, status);
  const params = isMap(error["params"]) ? (error["params"] as Params) : {};
  return new ServiceError(error["code"], String(error["hint"] ?? ""), status, params);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A query of what is given, or nothing. */
function query(wish: Record<string, string | number | undefined>): string {
  const given = Object.entries(wish).filter(([, value]) => value !== undefined);
  if (!given.length) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

function roomPath(code: string): string {
  return `/v1/rooms/${encodeURIComponent(code)}`;
}
