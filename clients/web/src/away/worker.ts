/// <reference lib="webworker" />
/**
 * The service worker: shows pushes, and keeps the page for when there is no network.
 *
 * A page is taken from the network whenever that answers, so a new version comes with the next page that is opened. Files
 * with a hash in their name are kept by version; an older version's stay until its last page is closed, so an open game never
 * misses a part of itself. Of the service's answers only records are kept.
 */
import { kept, oldCaches, RECORDS, surplus, wayOf } from "./caching";
import { languageOf, noteOf, tagOf } from "./note";

declare const FILES: readonly string[];
declare const VERSION: string;

const worker = self as unknown as ServiceWorkerGlobalScope;
const OWN = `towerhall-${VERSION}`;

worker.addEventListener("install", (event) => {
  event.waitUntil(keep(kept(FILES, languageOf(navigator.language))));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(caches.keys().then((names) => Promise.all(oldCaches(names, OWN).map((name) => caches.delete(name)))).then(() => worker.clients.claim()));
});

/** A page says which language it speaks. */
worker.addEventListener("message", (event) => {
  const { language } = (event.data ?? {}) as { language?: unknown };
  event.waitUntil(keep(kept(FILES, languageOf(language))));
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const way = wayOf({ url: request.url, method: request.method, navigates: request.mode === "navigate" }, worker.location.origin);
  if (way?.kind === "page") event.respondWith(fetch(request).catch(() => page(way.fallback)));
  else if (way?.kind === "asset") event.respondWith(asset(request));
  else if (way?.kind === "file") event.respondWith(fetch(request).catch(() => found(request.url)));
  else if (way?.kind === "record") event.respondWith(record(request, way.code));
});

worker.addEventListener("push", (event) => {
  const note = noteOf(event.data?.text() ?? "");
  if (note) event.waitUntil(show(note));
});

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(String((event.notification.data as { room?: unknown } | null)?.room ?? "")));
});

/** Keep the files that are not there yet. One that fails is fetched when it is needed. */
async function keep(files: readonly string[]): Promise<void> {
  const cache = await caches.open(OWN);
  await Promise.allSettled(files.map(async (file) => { if (!(await cache.match(file))) await cache.add(file); }));
}

async function page(fallback: string): Promise<Response> {
  return fallback === "/" ? found("/") : Response.redirect(fallback);
}

async function asset(request: Request): Promise<Response> {
  const known = await caches.match(request.url);
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok) await (await caches.open(OWN)).put(request.url, answer.clone());
  return answer;
}

async function record(request: Request, code: string): Promise<Response> {
  const key = `/records/${code}`;
  try {
    const answer = await fetch(request);
    if (answer.ok) {
      const cache = await caches.open(RECORDS);
      // As the newest one: the oldest are dropped first.
      await cache.delete(key);
      await cache.put(key, answer.clone());
      const keys = (await cache.keys()).map(({ url }) => url);
      await Promise.all(surplus(keys).map((url) => cache.delete(url)));
    }
    return answer;
  } catch {
    return found(key);
  }
}

async function found(key: string): Promise<Response> {
  return (await caches.match(key)) ?? Response.error();
}

async function show(note: NonNullable<ReturnType<typeof noteOf>>): Promise<void> {
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (pages.some(({ visibilityState, url }) => visibilityState === "visible" && url.includes(`/r/${note.room}`))) return;
  const { title, body, lang, tag, room } = note;
  await worker.registration.showNotification(title, { body, lang, tag, icon: "/icon-192.png", badge: "/icon-192.png", data: { room } });
}

/** Show the room: in the page that is there already, or in a new one. */
async function open(room: string): Promise<void> {
  const address = room && tagOf(room) ? `/#/r/${room}` : "/";
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const best = pages.find(({ url }) => url.includes(`/r/${room}`));
  if (best) await best.focus();
  else await worker.clients.openWindow(address);
}
