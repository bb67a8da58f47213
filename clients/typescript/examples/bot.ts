/** Plays a whole game against bots, at random, and checks its shuffle: npm run bot -- http://127.0.0.1:8000 */

import { type Command, connect, type Offer, Service, checkRecord } from "towerhall-client";

const origin = process.argv[2] ?? "http://127.0.0.1:8000";
const service = new Service(origin);
const { token } = await service.guest("Random Ada");
const { code } = await service.createRoom(token, { game: "five_towers", seats: 3, bot_delay_ms: 50 });
const table = connect({ origin, code, token });

const any = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;

function pick(offers: readonly Offer[]): Command {
  const { command, choices = [[{}, {}]], ranges = {} } = any(offers);
  const numbers = Object.entries(ranges).map(([name, [least, most]]) => [name, least + Math.floor(Math.random() * (most - least + 1))]);
  return { ...any(choices)[0], ...Object.fromEntries(numbers), command };
}

const over = new Promise<unknown>((resolve) => {
  table.on(() => {
    const { status, result } = (table.view["room"] ?? {}) as { status?: string; result?: unknown };
    if (status === "over") resolve(result);
    else if (table.offers.length && !table.unanswered) void table.send(pick(table.offers));
  });
});
for (const command of ["sit", "add_bot", "add_bot", "start"]) await table.send({ command });
const result = await over;
const checks = await checkRecord(await service.record(code), { keys: await service.keys(), evidence: table.evidence });
console.log(JSON.stringify({ code, result, seq: table.seq, checks }));
table.close();
