/** Tells a player that it is their turn: in the title, in the icon of the tab, by a sound, by a notification. */
import { t } from "../../words/index.svelte";
import { notify } from "./notification";
import { chime } from "./sound";

export interface TurnNotice {
  mine: boolean;
  code: string;
  /** New lines of chat, for the title. */
  unread: number;
}

/** Title and icon, as long as things stand so. */
export function showInTab({ mine, code, unread }: TurnNotice): void {
  const place = `${t("room.title", { code })} · ${t("app.title")}`;
  const count = unread > 0 ? `(${unread}) ` : "";
  document.title = mine ? `● ${t("notice.title")} · ${count}${place}` : `${count}${place}`;
  setIcon(mine ? "./icon-turn.svg" : "./icon.svg");
}

/** Once, when the turn comes. */
export function announceTurn(code: string): void {
  chime();
  notify(t("notice.title"), t("notice.text", { code }), `towerhall-${code}`);
}

export function clearTab(): void {
  document.title = t("app.title");
  setIcon("./icon.svg");
}

function setIcon(href: string): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link && link.getAttribute("href") !== href) link.setAttribute("href", href);
}
