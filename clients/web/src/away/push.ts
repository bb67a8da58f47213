/** This device's push subscription: made when the person asks for it, and renewed with each visit. */
import { ServiceError } from "towerhall-client";

import { session } from "../app/session.svelte";
import { settings } from "../app/settings.svelte";

/** Why this device cannot be told. */
export type Trouble = "denied" | "failed" | "impossible" | "install";

/** Whether the page has to be installed first, as on iPhones. */
function mustBeInstalled(): boolean {
  const isApple = /iP(?:hone|ad|od)|Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1;
  return isApple && !matchMedia("(display-mode: standalone)").matches;
}

/** What keeps this device from being told; null: nothing that is known before asking. */
export function obstacle(): Trouble | null {
  if ("PushManager" in window && "serviceWorker" in navigator && "Notification" in window && isSecureContext)
    return Notification.permission === "denied" ? "denied" : null;
  return mustBeInstalled() ? "install" : "impossible";
}

/** Have this device told. Asks the person for the permission, so it has to be called by a press. */
export async function turnOn(): Promise<Trouble | null> {
  const trouble = obstacle();
  if (trouble) return trouble;
  try {
    if ((await Notification.requestPermission()) !== "granted") return "denied";
    // `start` has registered it, unless the browser does not let the page.
    if (!(await navigator.serviceWorker.getRegistration("/"))) return "impossible";
    await renew(await navigator.serviceWorker.ready);
    settings.change({ push: true });
    return null;
  } catch (error) {
    return error instanceof ServiceError && error.code === "no_push" ? "impossible" : "failed";
  }
}

export async function turnOff(): Promise<void> {
  settings.change({ push: false });
  const registration = await navigator.serviceWorker?.getRegistration("/");
  const subscription = await registration?.pushManager?.getSubscription();
  if (!subscription) return;
  await Promise.allSettled([session.ask((token) => session.service.unsubscribe(token, subscription.endpoint)), subscription.unsubscribe()]);
}

/** The person or the token has changed: if this device is told, it is told for them from now on. */
export async function renewHere(): Promise<void> {
  const registration = settings.push ? await navigator.serviceWorker?.getRegistration("/") : undefined;
  if (registration) await renew(registration);
}

/** Subscribe this device with the key of the service, and tell the service whose it is. */
export async function renew(registration: ServiceWorkerRegistration): Promise<void> {
  const key = bytes(await session.service.pushKey());
  let subscription = await registration.pushManager.getSubscription();
  if (subscription && !equal(subscription.options.applicationServerKey, key)) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  const { p256dh = "", auth = "" } = keys ?? {};
  await session.ask((token) => session.service.subscribe(token, { endpoint: endpoint ?? "", p256dh, auth, language: settings.language }));
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (each) => each.charCodeAt(0));
}

function equal(own: ArrayBuffer | null, key: Uint8Array): boolean {
  if (!own || own.byteLength !== key.length) return false;
  return new Uint8Array(own).every((each, index) => each === key[index]);
}
