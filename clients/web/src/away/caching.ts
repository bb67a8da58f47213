/** What the service worker does with a request. Pure: nothing is fetched or kept here. */

/** How a request is answered. Undefined: as if there were no service worker. */
export type Way =
  /** A page: from the network, or the kept hall. */
  | { kind: "page"; fallback: string }
  /** A file whose name holds its hash: what is kept never changes. */
  | { kind: "asset" }
  /** A file that may change: from the network, or what is kept. */
  | { kind: "file" }
  /** A record: from the network, which is kept then; or what is kept. */
  | { kind: "record"; code: string };

export interface Asked {
  url: string;
  method: string;
  /** Whether the browser opens a page. */
  navigates: boolean;
}

const RECORD = /^\/v1\/rooms\/([A-HJ-NP-Z]{6})\/record$/;
const FILE = /^\/[\w.-]+\.(?:js|svg|png|webmanifest)$/;
const PAGE = /^\/(?:|playground|r\/[^/]+)$/;

/** Records that are kept: the newest ones. */
export const MOST_RECORDS = 30;
export const RECORDS = "towerhall-records";

export function wayOf({ url, method, navigates }: Asked, origin: string): Way | undefined {
  const { origin: theirs, pathname, search } = new URL(url);
  if (method !== "GET" || theirs !== origin) return undefined;
  if (navigates) return PAGE.test(pathname) ? { kind: "page", fallback: pathname === "/" ? "/" : `/#${pathname}${search}` } : undefined;
  const code = RECORD.exec(pathname)?.[1];
  if (code !== undefined) return { kind: "record", code };
  if (pathname.startsWith("/assets/")) return { kind: "asset" };
  return FILE.test(pathname) ? { kind: "file" } : undefined;
}

/** The caches that no version needs any more. */
export function oldCaches(names: readonly string[], own: string): string[] {
  return names.filter((name) => name.startsWith("towerhall-") && name !== own && name !== RECORDS);
}

/** The keys to remove when so many records are kept; the oldest come first. */
export function surplus(keys: readonly string[]): string[] {
  return keys.slice(0, Math.max(keys.length - MOST_RECORDS, 0));
}

const HEAVY = /\/(?:world|Playground)-/;
const OF_LANGUAGE = /\/([a-z]{2})-[\w-]+\.js$/;

/** The files that are kept from the start: not what only some pages need, and one language. */
export function kept(files: readonly string[], language: string): string[] {
  return files.filter((file) => !HEAVY.test(file) && [undefined, language].includes(OF_LANGUAGE.exec(file)?.[1]));
}
