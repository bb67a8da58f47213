/** Notifications of the browser, for those who want them. */
import { settings } from "../settings.svelte";

/** Whether the browser lets the page notify; asks the person the first time. */
export async function askToNotify(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  try {
    return (await Notification.requestPermission()) === "granted";
  } catch {
    return false;
  }
}

/** Show one, if the page is in the background. One of the same tag is replaced. */
export function notify(title: string, body: string, tag: string): void {
  if (!settings.notifications || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
  try {
    const shown = new Notification(title, { body, tag, icon: "./icon.svg" });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  } catch {
    // Some phones allow this from service workers only; title, icon and sound remain.
  }
}
