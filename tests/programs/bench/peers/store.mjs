// Where moves are made durable: a stream for each room, in an engine that syncs each append before it answers.

import { createClient } from "redis";

/** A function that resolves once a move of a room is durable; null without an address: then moves are in memory only. */
export async function durable(url) {
  if (!url) return null;
  const client = createClient({ url });
  client.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  await client.connect();
  return (room, seq, seat, number) => client.xAdd(`room:${room}`, "*", { m: `${seq} ${seat} ${number}` });
}
