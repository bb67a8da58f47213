/** Plays rooms of the conformance kit: towerhall conformance --run "npm run --silent conformance -- {urls}" */

import { type Command, connect, type Offer, type Table } from "towerhall-client";

const any = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;

function pick(offers: readonly Offer[]): Command {
  const { command, choices = [[{}, {}]], ranges = {} } = any(offers);
  const numbers = Object.entries(ranges).map(([name, [least, most]]) => [name, least + Math.floor(Math.random() * (most - least + 1))]);
  return { ...any(choices)[0], ...Object.fromEntries(numbers), command };
}

/** What a player does now, if anything: sit down, get ready, play. */
function next({ view, offers, you }: Table): Command | null {
  const { status, seats = {} } = (view["room"] ?? {}) as { status?: string; seats?: Record<string, { id?: string; ready?: boolean }> };
  if (offers.length) return pick(offers);
  if (status !== "waiting") return null;
  const own = Object.values(seats).find(({ id }) => id === you);
  return own ? (own.ready ? null : { command: "ready" }) : { command: "sit" };
}

function play(url: string): void {
  const { host, pathname } = new URL(url);
  const code = pathname.split("/").at(-1)!;
  const table = connect({ origin: `ws://${host}`, code, token: "token", storage: null });
  table.on(() => {
    if ((table.view["room"] as { status?: string } | undefined)?.status === "over") {
      console.log(JSON.stringify({ code, view: table.view }));
      return table.close();
    }
    const command = table.state === "up" && !table.unanswered ? next(table) : null;
    if (command) table.send(command).catch(() => undefined); // the room is closed
  });
}

process.argv.slice(2).forEach(play);
