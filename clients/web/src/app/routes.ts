/** Addresses of the page. They live in the fragment, which browsers send to nobody: keys may stand there. */

export type Route =
  | { page: "home" }
  | { page: "room"; code: string; key: string; at: number | null }
  | { page: "link"; code: string }
  | { page: "record" }
  | { page: "rules"; game: string }
  | { page: "nowhere" };

const CODE = /^[A-HJ-NP-Z]{6}$/;

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decoded);
  const [head, first = "", second = ""] = parts;
  if (head === undefined) return { page: "home" };
  if (head === "r" && isCode(first.toUpperCase()) && parts.length <= 3)
    return { page: "room", code: first.toUpperCase(), key: second, at: moment(query) };
  if (head === "l" && first && parts.length === 2) return { page: "link", code: first };
  if (head === "record" && parts.length === 1) return { page: "record" };
  if (head === "rules" && first && parts.length === 2) return { page: "rules", game: first };
  return { page: "nowhere" };
}

export function roomHash(code: string, key = "", at: number | null = null): string {
  const path = key ? `#/r/${code}/${encodeURIComponent(key)}` : `#/r/${code}`;
  return at === null ? path : `${path}?at=${at}`;
}

/** The room that somebody typed or pasted: a code, or a link that ends in one. */
export function roomFromText(text: string): { code: string; key: string } | null {
  const plain = text.trim();
  const typed = plain.replace(/[\s-]/g, "").toUpperCase();
  if (isCode(typed)) return { code: typed, key: "" };
  const hash = plain.indexOf("#");
  if (hash < 0) return null;
  const route = parseRoute(plain.slice(hash));
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
