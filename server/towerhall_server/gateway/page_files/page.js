// The page's only script: asks which rooms and games there are, and shows the answers.
//
// Names are other people's text, so everything is shown as text nodes, and what is shown changes
// only when the answer did: the focus stays, and screen readers hear of changes alone.
"use strict";

const POLL_MS = 3000;
const MOST_WAIT_MS = 30000;
const ANSWER_WITHIN_MS = 8000;
const MOST_SHOWN = 100;
const MOST_NEWS = 3;
const COPIED_MS = 2000;
const STATUS = { waiting: "waiting for players", sealed: "about to start", playing: "playing" };

const byId = (id) => document.getElementById(id);
const shown = new Map(); // code -> { room, item, parts }
let gamesKnown = false;
let roomsKnown = false;
let answeredAt = null;
let failures = 0;
let asking = false;
let timer = 0;

function make(kind, name, ...children) {
  const element = document.createElement(kind);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

function say(element, text) {
  // Writing the same text again would make some screen readers repeat it.
  if (element.textContent !== text) element.textContent = text;
}

const title = (name) => name.split("_").map((w) => w.charAt(0).toUpperCase() + w.slice(1)).join(" ");
const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;
const clock = (room) => (room.turn_seconds ? `${room.turn_seconds} s a turn` : "no clock");
const isJoinable = (room) => room.status === "waiting" && room.taken < room.seats;
const statusOf = (room) =>
  room.status === "waiting" && !isJoinable(room) ? "full, not started" : STATUS[room.status] || room.status;

// Asking

async function ask(path) {
  const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  const body = await response.json();
  if (response.ok) return { body, problem: "" };
  return { body, problem: (body.error && body.error.hint) || `status ${response.status}` };
}

async function look() {
  clearTimeout(timer);
  if (asking || document.hidden) return;
  asking = true;
  try {
    const [ready, rooms] = await Promise.all([ask("/readyz"), ask("/v1/rooms")]);
    showHealth(ready.problem ? "waiting" : "serving", ready.problem ? `not ready: ${ready.problem}` : "serving");
    if (rooms.problem) showOld(); else showRooms(rooms.body.rooms);
    if (!gamesKnown) await lookForGames();
    failures = rooms.problem || ready.problem ? failures + 1 : 0;
  } catch {
    // No answer, or not one of ours. What comes back may be a newer server with other games.
    failures += 1;
    gamesKnown = false;
    showHealth("away", "cannot reach the server; trying again");
    showOld();
  } finally {
    asking = false;
  }
  if (!document.hidden) timer = setTimeout(look, pause());
}

function pause() {
  if (!failures) return POLL_MS;
  // Spread out, so that not every open page knocks at the same moment after a restart.
  return Math.min(POLL_MS * 2 ** failures, MOST_WAIT_MS) * (0.75 + Math.random() / 4);
}

async function lookForGames() {
  const { body, problem } = await ask("/v1/games");
  if (problem) return;
  gamesKnown = true;
  byId("games").replaceChildren(...body.games.map(gameItem));
  say(byId("games-note"), body.games.length ? "" : "This server has no games.");
  if (body.games.length) fill("game", body.games[0].name);
  fill("level", String(body.level.newest));
}

// Showing

function showHealth(state, text) {
  byId("health").dataset.state = state;
  say(byId("health"), text);
}

function showOld() {
  if (!roomsKnown) return say(byId("rooms-note"), "The list comes as soon as the server answers.");
  byId("rooms").classList.add("old");
  say(byId("rooms-note"), `This is the list of ${answeredAt.toLocaleTimeString()}.`);
}

function showRooms(rooms) {
  const sorted = [...rooms].sort(
    (a, b) => isJoinable(b) - isJoinable(a) || (a.code < b.code ? -1 : 1),
  );
  const news = changes(sorted);
  const focused = document.activeElement;
  const list = byId("rooms");
  const listed = sorted.slice(0, MOST_SHOWN);
  const codes = new Set(listed.map((room) => room.code));
  for (const [code, { item }] of shown) {
    if (codes.has(code)) continue;
    if (item.contains(focused)) byId("rooms-heading").focus({ preventScroll: true });
    item.remove();
    shown.delete(code);
  }
  listed.forEach((room, place) => {
    const { item } = showRoom(room);
    if (list.children[place] !== item) list.insertBefore(item, list.children[place] || null);
  });
  // An element that is moved loses the focus.
  if (list.contains(focused) && document.activeElement !== focused) focused.focus({ preventScroll: true });

  list.classList.remove("old");
  const free = sorted.filter(isJoinable).length;
  const rest = sorted.length - listed.length;
  const summary = sorted.length
    ? `${count(sorted.length, "room", "rooms")}, ${free || "none"} with a free seat` +
      (rest ? `; ${rest} more than are shown here.` : ".")
    : "No room is open right now. Steps 1 and 2 below open one.";
  say(byId("rooms-note"), summary);
  if (!roomsKnown) say(byId("rooms-news"), summary);
  else if (news.length) {
    const more = news.length > MOST_NEWS ? ` And ${count(news.length - MOST_NEWS, "change", "changes")} more.` : "";
    say(byId("rooms-news"), news.slice(0, MOST_NEWS).join(" ") + more);
  }
  byId("skyline").querySelectorAll(".windows path").forEach((pane, n) => {
    pane.classList.toggle("lit", n < sorted.length);
  });
  roomsKnown = true;
  answeredAt = new Date();
}

function changes(rooms) {
  const news = [];
  const codes = new Set(rooms.map((room) => room.code));
  for (const room of rooms.slice(0, MOST_SHOWN)) {
    const old = shown.get(room.code);
    const seats = `${room.taken} of ${room.seats} seats taken`;
    if (!old) news.push(`New room ${room.code}: ${title(room.game)}, ${seats}.`);
    else if (old.room.status !== room.status) news.push(`Room ${room.code}: ${statusOf(room)}.`);
    else if (old.room.taken !== room.taken) news.push(`Room ${room.code}: ${seats}.`);
  }
  for (const code of shown.keys()) if (!codes.has(code)) news.push(`Room ${code} is no longer open.`);
  return news;
}

function showRoom(room) {
  let entry = shown.get(room.code);
  if (!entry) {
    entry = roomItem(room);
    shown.set(room.code, entry);
  } else if (JSON.stringify(entry.room) === JSON.stringify(room)) return entry;
  entry.room = room;
  const { parts, item } = entry;
  item.dataset.status = isJoinable(room) ? "free" : room.status;
  say(parts.status, statusOf(room));
  say(parts.game, title(room.game));
  say(parts.clock, clock(room));
  say(parts.seats, `${room.taken} of ${room.seats} seats taken`);
  const pips = Array.from({ length: room.seats }, (_, n) => make("i", n < room.taken ? "taken" : ""));
  parts.pips.replaceChildren(...pips);
  const names = room.names.map((name) => make("li", "", make("bdi", "", name)));
  parts.names.replaceChildren(...names);
  parts.names.hidden = !names.length;
  return entry;
}

function roomItem(room) {
  const parts = {
    status: make("span", "status"), game: make("span"), clock: make("span"),
    seats: make("span"), pips: make("span", "pips"), names: make("ul", "names"),
  };
  parts.pips.setAttribute("aria-hidden", "true");
  parts.names.setAttribute("role", "list"); // which Safari forgets where there are no bullets
  parts.names.setAttribute("aria-label", "At the table");
  const button = make("button", "", "Copy command");
  button.type = "button";
  button.setAttribute("aria-label", `Copy command for room ${room.code}`);
  button.addEventListener("click", () => {
    fill("code", room.code);
    copy(button, byId("command-play"));
  });
  const item = make(
    "li", "room",
    make("h3", "code", room.code),
    parts.status,
    make("p", "what", parts.game, make("span", "dot", " · "), parts.clock),
    make("p", "seats", parts.pips, parts.seats),
    parts.names,
    button,
  );
  return { room, item, parts };
}

function gameItem(game) {
  const [fewest, most] = game.seats;
  const people = fewest === most ? count(most, "player", "players") : `${fewest} to ${most} players`;
  const presets = Object.keys(game.presets);
  const line = (name, values) => make("p", "note", `${name}: ${values.join(", ")}`);
  const item = make(
    "li", "",
    make("h3", "", title(game.name)),
    make("p", "", `${people}, known here as `, make("code", "", game.name)),
  );
  if (presets.length) item.append(line("Presets", presets));
  if (game.levels.length) item.append(line("Bots", game.levels));
  return item;
}

// Commands to copy

function fill(name, text) {
  document.querySelectorAll(`[data-fill="${name}"]`).forEach((place) => say(place, text));
}

async function copy(button, source) {
  let told = "Copied";
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    // Not allowed where the page came over plain HTTP: then it is one key stroke more.
    getSelection().selectAllChildren(source);
    source.scrollIntoView({ block: "nearest" });
    told = "Selected";
  }
  button.dataset.label ||= button.textContent;
  say(button, told);
  say(byId("copy-news"), told);
  setTimeout(() => {
    say(button, button.dataset.label);
    say(byId("copy-news"), "");
  }, COPIED_MS);
}

fill("origin", location.origin);
fill("socket", location.origin.replace(/^http/, "ws"));
document.querySelectorAll("[data-copy]").forEach((button) => {
  const source = byId(button.dataset.copy);
  button.addEventListener("click", () => copy(button, source));
});
document.addEventListener("visibilitychange", look);
addEventListener("online", look);
look();
