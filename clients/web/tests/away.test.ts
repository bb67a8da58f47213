/** What the service worker shows and keeps: its pure parts, and the worker itself with a browser that is made of maps. */
import { beforeEach, describe, expect, it, vi } from "vitest";

import { kept, MOST_RECORDS, oldCaches, RECORDS, surplus, wayOf } from "../src/away/caching";
import { LANGUAGES as HERE, languageOf, noteOf } from "../src/away/note";
import { LANGUAGES } from "../src/words/index.svelte";

const TURN = { kind: "turn", room: "QJXKZB", game: "five_towers", names: ["Ada", "Ben"], language: "en" };
const note = (changed: object) => noteOf(JSON.stringify({ ...TURN, ...changed }));

describe("a push becomes a notification", () => {
  it("knows all languages of the page", () => expect([...HERE]).toEqual([...LANGUAGES]));

  it("names game, room and people", () => {
    expect(note({})).toEqual({ title: "Five Towers: it is your turn", body: "Room QJXKZB, with Ada, Ben", lang: "en", tag: "towerhall-QJXKZB", room: "QJXKZB" });
    expect(note({ kind: "invited", names: ["Ada"] })?.body).toBe("Ada invites you to room QJXKZB");
    expect(note({ kind: "ended", place: 2 })?.body).toBe("Place 2 in room QJXKZB, with Ada, Ben");
  });

  it.each(LANGUAGES)("is worded in %s, without holes", (language) => {
    for (const kind of ["turn", "invited", "ended"]) {
      const { title, body, lang } = note({ kind, language: `${language}-XX`, place: 1 })!;
      expect(lang).toBe(language);
      expect(title + body).not.toMatch(/[{}]/);
      if (language !== "en") expect(title).not.toBe(note({ kind })!.title);
    }
  });

  it("says less where less is known", () => {
    expect(note({ names: [] })?.body).toBe("Room QJXKZB");
    expect(note({ kind: "ended" })?.body).toBe("Room QJXKZB");
    expect(note({ game: "chess" })?.title).toBe("Towerhall: it is your turn");
    expect(note({ language: "tlh" })?.lang).toBe("en");
    expect(languageOf(7)).toBe("en");
  });

  it("takes names for what they are", () => {
    expect(note({ names: ["{room}", 7, null] })?.body).toBe("Room QJXKZB, with {room}");
    expect(note({ names: ["x".repeat(500)] })!.body.length).toBeLessThanOrEqual(200);
  });

  it.each(["", "no json", "null", "[]", "7", JSON.stringify({ ...TURN, kind: "later" }), JSON.stringify({ ...TURN, room: "../x" }), JSON.stringify({ ...TURN, kind: "__proto__" })])("shows nothing for %s", (text) => {
    expect(noteOf(text)).toBeNull();
  });
});

const HOME = "https://towers.example";
const way = (path: string, more: object = {}) => wayOf({ url: new URL(path, HOME).href, method: "GET", navigates: false, ...more }, HOME);

describe("a request has a way", () => {
  it.each([
    ["/", { kind: "page", fallback: "/" }],
    ["/playground", { kind: "page", fallback: "/#/playground" }],
    ["/r/QJXKZB?at=7", { kind: "page", fallback: "/#/r/QJXKZB?at=7" }],
  ])("the page %s", (path, wanted) => expect(way(path, { navigates: true })).toEqual(wanted));

  it("files, and records", () => {
    expect(way("/assets/base-x1.js")).toEqual({ kind: "asset" });
    expect(way("/theme.js")).toEqual({ kind: "file" });
    expect(way("/v1/rooms/QJXKZB/record")).toEqual({ kind: "record", code: "QJXKZB" });
  });

  it.each(["/v1/me/rooms", "/v1/games", "/v1/rooms/QJXKZB", "/v1/me/export", "/v1/log/tile/0", "/healthz", "https://elsewhere.example/theme.js"])("nothing of %s is kept", (path) => {
    expect(way(path)).toBeUndefined();
  });

  it("nor what is no GET, nor pages that are not the page's", () => {
    expect(way("/v1/rooms/QJXKZB/record", { method: "POST" })).toBeUndefined();
    expect(way("/docs/spec", { navigates: true })).toBeUndefined();
  });

  it("keeps one language, and no heavy parts", () => {
    const files = ["/", "/assets/base-A_1.js", "/assets/de-B2.js", "/assets/fr-C-3.js", "/assets/world-D4.js", "/assets/game-E5.css"];
    expect(kept(files, "fr")).toEqual(["/", "/assets/base-A_1.js", "/assets/fr-C-3.js", "/assets/game-E5.css"]);
  });

  it("drops old versions and the oldest records only", () => {
    expect(oldCaches(["towerhall-1", "towerhall-2", RECORDS, "other"], "towerhall-2")).toEqual(["towerhall-1"]);
    const many = Array.from({ length: MOST_RECORDS + 2 }, (_, index) => `/records/${index}`);
    expect(surplus(many)).toEqual(["/records/0", "/records/1"]);
    expect(surplus(many.slice(2))).toEqual([]);
  });
});

/** A browser around the worker: caches are maps, and events are called. */
class Around {
  readonly stores = new Map<string, Map<string, Response>>();
  readonly shown: { title: string; options: NotificationOptions }[] = [];
  readonly opened: string[] = [];
  windows: { url: string; visibilityState: string; focus(): Promise<void> }[] = [];
  focused = 0;
  network: (url: string) => Response | Error = () => new Error("offline");
  readonly #listeners = new Map<string, (event: unknown) => void>();

  readonly caches = {
    open: async (name: string) => {
      const store = this.stores.get(name) ?? new Map<string, Response>();
      this.stores.set(name, store);
      const path = (key: string | Request) => new URL(typeof key === "string" ? key : key.url, HOME).href;
      return {
        match: async (key: string) => store.get(path(key))?.clone(),
        add: async (key: string) => void store.set(path(key), await this.fetch(path(key))),
        put: async (key: string, answer: Response) => void store.set(path(key), answer),
        delete: async (key: string) => store.delete(path(key)),
        keys: async () => [...store.keys()].map((url) => ({ url })),
      };
    },
    match: async (key: string) => {
      for (const name of this.stores.keys()) {
        const found = await (await this.caches.open(name)).match(key);
        if (found) return found;
      }
      return undefined;
    },
    keys: async () => [...this.stores.keys()],
    delete: async (name: string) => this.stores.delete(name),
  };

  readonly self = {
    location: { origin: HOME },
    addEventListener: (kind: string, listener: (event: unknown) => void) => this.#listeners.set(kind, listener),
    registration: { showNotification: async (title: string, options: NotificationOptions) => void this.shown.push({ title, options }) },
    clients: { matchAll: async () => this.windows, openWindow: async (url: string) => void this.opened.push(url), claim: async () => undefined },
  };

  readonly fetch = async (asked: string | { url: string }): Promise<Response> => {
    const answer = this.network(typeof asked === "string" ? asked : asked.url);
    if (answer instanceof Error) throw answer;
    return answer;
  };

  async happens(kind: string, event: object = {}): Promise<void> {
    const waits: unknown[] = [];
    this.#listeners.get(kind)!({ ...event, waitUntil: (until: unknown) => waits.push(until) });
    await Promise.all(waits);
  }

  /** What the page gets for a request; undefined: what it gets without a worker. */
  async asked(path: string, mode = "cors"): Promise<Response | undefined> {
    let given: Promise<Response> | undefined;
    const request = { url: new URL(path, HOME).href, method: "GET", mode };
    this.#listeners.get("fetch")!({ request, respondWith: (answer: Promise<Response>) => (given = answer) });
    return given;
  }
}

describe("the worker", () => {
  let around: Around;

  beforeEach(async () => {
    around = new Around();
    vi.resetModules();
    vi.stubGlobal("self", around.self);
    vi.stubGlobal("caches", around.caches);
    vi.stubGlobal("fetch", around.fetch);
    vi.stubGlobal("FILES", ["/", "/assets/base-1.js", "/assets/de-2.js"]);
    vi.stubGlobal("VERSION", "7");
    vi.stubGlobal("navigator", { language: "en-GB" });
    await import("../src/away/worker");
  });

  it("keeps the page, and shows it without a network", async () => {
    around.network = (url) => new Response(`online ${url}`);
    await around.happens("install");
    await around.happens("message", { data: { language: "de" } });
    expect([...around.stores.get("towerhall-7")!.keys()]).toEqual([`${HOME}/`, `${HOME}/assets/base-1.js`, `${HOME}/assets/de-2.js`]);
    around.network = (url) => new Response(`newer ${url}`);
    expect(await (await around.asked("/", "navigate"))!.text()).toBe(`newer ${HOME}/`);
    around.network = () => new Error("offline");
    expect(await (await around.asked("/", "navigate"))!.text()).toBe(`online ${HOME}/`);
    expect(await (await around.asked("/assets/de-2.js"))!.text()).toContain("online");
    expect((await around.asked("/assets/other-3.js").catch((error: unknown) => error)) instanceof Error).toBe(true);
    expect(await around.asked("/v1/me/rooms")).toBeUndefined();
  });

  it("keeps the records that passed, the newest ones", async () => {
    around.network = (url) => new Response(url);
    const codes = Array.from({ length: MOST_RECORDS + 1 }, (_, index) => `AAAAA${"ABCDEFGHJKLMNPQRSTUVWXYZ"[index % 24]}`).map((code, index) => (index < 24 ? code : code.replace("AAAAA", "BBBBB")));
    for (const code of codes) await around.asked(`/v1/rooms/${code}/record`);
    await vi.waitFor(() => expect(around.stores.get(RECORDS)!.size).toBe(MOST_RECORDS));
    around.network = () => new Error("offline");
    expect(await (await around.asked(`/v1/rooms/${codes.at(-1)}/record`))!.text()).toContain(codes.at(-1)!);
    expect((await around.asked(`/v1/rooms/${codes[0]}/record`))!.type).toBe("error");
  });

  it("keeps no refusal", async () => {
    around.network = () => new Response("{}", { status: 404 });
    expect((await around.asked("/v1/rooms/QJXKZB/record"))!.status).toBe(404);
    expect(around.stores.get(RECORDS)).toBeUndefined();
  });

  it("removes older versions when it takes over", async () => {
    for (const name of ["towerhall-6", "towerhall-7", RECORDS]) await around.caches.open(name);
    await around.happens("activate");
    expect([...around.stores.keys()]).toEqual(["towerhall-7", RECORDS]);
  });

  it("shows a push, unless the person looks at that room", async () => {
    const push = { data: { text: () => JSON.stringify(TURN) } };
    const focus = async () => void (around.focused += 1);
    around.windows = [{ url: `${HOME}/#/r/QJXKZB`, visibilityState: "hidden", focus }, { url: `${HOME}/`, visibilityState: "visible", focus }];
    await around.happens("push", push);
    expect(around.shown).toHaveLength(1);
    expect(around.shown[0]).toMatchObject({ title: "Five Towers: it is your turn", options: { tag: "towerhall-QJXKZB", data: { room: "QJXKZB" } } });
    around.windows[0]!.visibilityState = "visible";
    await around.happens("push", push);
    await around.happens("push", { data: null });
    expect(around.shown).toHaveLength(1);
  });

  it("leads to the room, in a page that is there or in a new one", async () => {
    const click = { notification: { data: { room: "QJXKZB" }, close: () => undefined } };
    await around.happens("notificationclick", click);
    expect(around.opened).toEqual(["/#/r/QJXKZB"]);
    around.windows = [{ url: `${HOME}/#/r/QJXKZB`, visibilityState: "hidden", focus: async () => void (around.focused += 1) }];
    await around.happens("notificationclick", click);
    expect([around.opened.length, around.focused]).toEqual([1, 1]);
  });
});
