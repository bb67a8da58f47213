import { ServiceError } from "./errors.ts";
import { isMap } from "./merge_patch.ts";
import { parseRecord } from "./record.ts";
import type { Keys } from "./signature.ts";
import type {
  Catalogue,
  GameDescription,
  GameRecord,
  Guest,
  Link,
  ListedRoom,
  MyRoom,
  NewRoom,
  NewRoomRequest,
  Params,
  Place,
  QuickplayRequest,
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

  async #text(method: string, path: string, { token, key, body }: More): Promise<string> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (token) headers["authorization"] = `Bearer ${token}`;
    if (key) headers["towerhall-key"] = key;
    if (body) headers["content-type"] = "application/json";
    const request: RequestInit = { method, headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) };
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
  body?: object;
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

function roomPath(code: string): string {
  return `/v1/rooms/${encodeURIComponent(code)}`;
}
