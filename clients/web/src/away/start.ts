/** What begins once the page is shown: the service worker, and the renewal of this device's subscription. Each visit loads this. */
import { settings } from "../app/settings.svelte";
import { session } from "../app/session.svelte";

const SCRIPT = "/sw.js";

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(text: string): string }): { createScriptURL(text: string): string };
}

/** The service worker of this page, if the browser has any. */
async function register(): Promise<ServiceWorkerRegistration | null> {
  if (!("serviceWorker" in navigator) || !isSecureContext || window.top !== window) return null;
  const known = await navigator.serviceWorker.getRegistration("/");
  return known ?? navigator.serviceWorker.register(script(), { scope: "/" });
}

/** The address as the page's policy wants it: made by a rule of the one script that there is. */
let trusted: string | null = null;
function script(): string {
  const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
  trusted ??= policies ? policies.createPolicy("towerhall-worker", { createScriptURL: () => SCRIPT }).createScriptURL("") : SCRIPT;
  return trusted;
}

export async function start(): Promise<void> {
  const registration = await register();
  registration?.active?.postMessage({ language: settings.language });
  if (registration && settings.push && session.guest) await (await import("./push")).renew(registration);
}
