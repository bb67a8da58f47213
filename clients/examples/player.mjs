/** A whole client on `ws`, over JSON: node player.mjs TOKEN ws://127.0.0.1:8000/v1/rooms/CODE ... */

import { randomBytes } from "node:crypto";
import WebSocket from "ws";

const FINAL = new Set([1000, 1007, 1009, 4400, 4401, 4403, 4404, 4405, 4406, 4409, 4410]); // P-101: stay away
const EARLY = new Set(["welcome", "error", "go", "pong"]);
const [token, ...urls] = process.argv.slice(2);
const any = (items) => items[Math.floor(Math.random() * items.length)];

function merge(document, patch) { // P-33
  const result = { ...document };
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else result[key] = isMap(value) ? merge(isMap(result[key]) ? result[key] : {}, value) : value;
  return result;
}

function isMap(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pick(offers) { // P-38
  const { command, choices = [[{}]], ranges = {} } = any(offers);
  const numbers = Object.entries(ranges).map(([name, [least, most]]) => [name, least + Math.floor(Math.random() * (most - least + 1))]);
  return { command, ...any(choices)[0], ...Object.fromEntries(numbers) };
}

function play(url) {
  const origin = randomBytes(8).toString("base64url");
  const unanswered = new Map();
  let cursor, view = {}, number = 0, longest = 500;

  function connect() {
    const socket = new WebSocket(url, ["towerhall.v1.json"], { perMessageDeflate: false });
    let welcomed = false, faulted = false, turnedAway = false, offers = [], tag = "", gameSeq = 0;
    const send = (message) => socket.send(JSON.stringify(message));
    const steps = {
      welcome: (arrival) => ([welcomed, cursor, view] = [true, arrival.cursor, arrival.view ?? view]),
      reset: (its, whole) => ([cursor, view, offers, gameSeq] = [its, whole, [], 0]),
      frame(seq, mark, [, from, n], _, patch) {
        [cursor, view] = [[cursor[0], seq, mark], merge(view, patch)];
        if (from === origin) unanswered.delete(n);
        if ("game" in patch) [offers, gameSeq] = [[], seq]; // P-39
      },
      offers: (seq, its, list) => seq >= gameSeq && ([tag, offers] = [its, list]),
      seat: () => (offers = []),
      rejected: (n) => unanswered.delete(n),
      duplicate: (n) => unanswered.delete(n),
      accepted: (n) => unanswered.delete(n),
    };
    socket.on("open", () => send(["hello", { token, level: 1, origin, cursor }]));
    socket.on("message", (data) => {
      const [name, ...fields] = JSON.parse(data);
      const [first] = fields;
      faulted ||= welcomed ? name === "welcome" || (name === "frame" && first !== cursor[1] + 1) : !EARLY.has(name); // P-25
      faulted ||= name === "welcome" && !first.view && String(first.cursor) !== String(cursor);
      if (faulted) return (cursor = undefined), socket.close();
      if (Object.hasOwn(steps, name)) steps[name](...fields);
      let again = name === "welcome" || name === "reset" || (name === "pong" && turnedAway); // P-26, P-44
      turnedAway = first === "too_many_unanswered";
      if (view.room?.status === "over") return console.log(JSON.stringify({ code: url.split("/").at(-1), view })), socket.close(1000);
      if (offers.length && !unanswered.size) {
        unanswered.set(++number, ["command", number, tag, pick(offers)]);
        again = true;
      }
      if (again) unanswered.forEach(send);
      if (name === "go") setTimeout(() => socket.close(), Math.random() * first);
    });
    socket.on("error", () => {}); // a close follows
    socket.on("close", (code) => {
      if (FINAL.has(code) || view.room?.status === "over") return;
      setTimeout(connect, Math.random() * longest);
      longest = Math.min(30_000, longest * 2);
    });
  }
  connect();
}

urls.forEach(play);
