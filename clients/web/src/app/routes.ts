/**
 * Addresses of the page. They live in the fragment, which browsers never send: it may hold keys. Links to public rooms are
 * paths, so that the server can give them a preview; the page turns those into fragments.
 */

export type Route =
  | { page: "home" }
  | { page: "room"; code: string; key: string; at: number | null }
  | { page: "link"; code: string }
  | { page: "record"; code: string | null }
  | { page: "live" }
  | { page: "playground" }
  | { page: "rules"; game: string }
  | { page: "learn"; game: string }
  | { page: "me" }
  | { page: "friends" }
  | { page: "person"; handle: string }
  | { page: "leaderboard"; game: string }
  | { page: "nowhere" };

/** Pages that the server has paths for. */
const SERVED: Route["page"][] = ["room", "playground"];
/** The form of handles (P-202). */
const HANDLE = /^[A-Za-z0-9_-]{11}$/;
const CODE = /^[A-HJ-NP-Z]{6}$/;

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decoded);
  const [head, first = "", second = ""] = parts;
  if (head === undefined) return { page: "home" };
  if (head === "r" && isCode(first.toUpperCase()) && parts.length <= 3)
    return { page: "room", code: first.toUpperCase(), key: second, at: moment(query) };
  if (head === "l" && first && parts.length === 2) return { page: "link", code: first };
  if (head === "record" && parts.length === 1) return { page: "record", code: null };
  if (head === "record" && isCode(first) && parts.length === 2) return { page: "record", code: first };
  if (head === "live" && parts.length === 1) return { page: "live" };
  if (head === "playground" && parts.length === 1) return { page: "playground" };
  if (head === "rules" && first && parts.length === 2) return { page: "rules", game: first };
  if (head === "learn" && first && parts.length === 2) return { page: "learn", game: first };
  if (head === "me" && parts.length === 1) return { page: "me" };
  if (head === "friends" && parts.length === 1) return { page: "friends" };
  if (head === "people" && HANDLE.test(first) && parts.length === 2) return { page: "person", handle: first };
  if (head === "leaderboards" && parts.length <= 2) return { page: "leaderboard", game: first };
  return { page: "nowhere" };
}

export function roomHash(code: string, key = "", at: number | null = null): string {
  const path = key ? `#/r/${code}/${encodeURIComponent(key)}` : `#/r/${code}`;
  return at === null ? path : `${path}?at=${at}`;
}

/** The link to a room, from the root: for people, not for this page. The key of a private room stays in the fragment. */
export function roomLink(code: string, key = "", at: number | null = null): string {
  return key ? `/${roomHash(code, key, at)}` : `/${roomHash(code, key, at).slice(2)}`;
}

/** The fragment for a path that the server answered with this page; null if no page is there. */
export function hashOfPath(path: string, query: string): string | null {
  if (path === "/") return "";
  const hash = `#${path}${query}`;
  return SERVED.includes(parseRoute(hash).page) ? hash : null;
}

/** The room that a person typed or pasted: a code, or a link that ends in one. */
export function roomFromText(text: string): { code: string; key: string } | null {
  const plain = text.trim();
  const typed = plain.replace(/[\s-]/g, "").toUpperCase();
  if (isCode(typed)) return { code: typed, key: "" };
  const start = /#|\/r\//.exec(plain);
  if (!start) return null;
  const route = parseRoute(plain.slice(start.index));
  return route.page === "room" ? { code: route.code, key: route.key } : null;
}

export function isCode(text: string): boolean {
  return CODE.test(text);
}

function moment(query: string): number | null {
  const at = new URLSearchParams(query).get("at");
  return at !== null && /^\d{1,9}$/.test(at) ? Number(at) : null;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
