/** What begins once the page is shown: the service worker, and the renewal of this device's subscription. */
import { settings } from "../app/settings.svelte";
import { session } from "../app/session.svelte";
import { register, renew } from "./push";

export async function start(): Promise<void> {
  const registration = await register();
  if (!registration) return;
  registration.active?.postMessage({ language: settings.language });
  if (settings.push && session.guest) await renew(registration);
}

start().catch(() => undefined);
