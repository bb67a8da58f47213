/** What is asked over HTTP: the right requests, and every way in which they fail. */

import { expect, test } from "vitest";
import { Service, ServiceError } from "../src";

interface Request {
  path: string;
  method: string | undefined;
  headers: Record<string, string>;
  body: unknown;
  cache: string | undefined;
}

function answering(answer: unknown, status = 200): [Service, Request[]] {
  const requests: Request[] = [];
  const service = new Service("http://play.example/", (input, init) => {
    const path = String(input).replace("http://play.example", "");
    requests.push({ cache: init?.cache, path, method: init?.method, headers: init?.headers as Record<string, string>, body: init?.body ? JSON.parse(String(init.body)) : null });
    return Promise.resolve(new Response(typeof answer === "string" ? answer : JSON.stringify(answer), { status }));
  });
  return [service, requests];
}

const ME = { authorization: "Bearer me" };

test.each<[string, string, unknown, Record<string, string>, (service: Service) => Promise<unknown>]>([
  ["POST", "/v1/guests", { name: "Ada" }, {}, (service) => service.guest("Ada")],
  ["GET", "/v1/games", null, {}, (service) => service.games()],
  ["GET", "/v1/rooms", null, {}, (service) => service.rooms()],
  ["GET", "/v1/rooms/A%2FB", null, { "towerhall-key": "key" }, (service) => service.room("A/B", "key")],
  ["POST", "/v1/rooms", { game: "dice", private: true }, { authorization: "Bearer me" }, (service) => service.createRoom("me", { game: "dice", private: true })],
  ["POST", "/v1/quickplay", { game: "dice" }, { authorization: "Bearer me" }, (service) => service.quickplay("me", { game: "dice" })],
  ["GET", "/v1/me/rooms", null, { authorization: "Bearer me" }, (service) => service.myRooms("me")],
  ["POST", "/v1/me/links", {}, { authorization: "Bearer me" }, (service) => service.newLink("me")],
  ["POST", "/v1/me/links", { room: "QJXKZB" }, { authorization: "Bearer me" }, (service) => service.newLink("me", "QJXKZB")],
  ["POST", "/v1/me/name", { name: "Eve" }, { authorization: "Bearer me" }, (service) => service.rename("me", "Eve")],
  ["POST", "/v1/me/tokens", {}, { authorization: "Bearer me" }, (service) => service.newerToken("me")],
  ["POST", "/v1/me/revoke", {}, { authorization: "Bearer me" }, (service) => service.revoke("me")],
  ["POST", "/v1/me/revoke", { others: true }, { authorization: "Bearer me" }, (service) => service.revoke("me", { others: true })],
  ["POST", "/v1/links", { code: "abc" }, {}, (service) => service.useLink("abc")],
  ["GET", "/v1/me/account", null, { authorization: "Bearer me" }, (service) => service.account("me")],
  ["POST", "/v1/me/passkeys/options", {}, { authorization: "Bearer me", origin: "http://play.example" }, (service) => service.passkeyOptions("me")],
  ["POST", "/v1/me/passkeys", { credential: { id: "a" } }, { authorization: "Bearer me" }, (service) => service.addPasskey("me", { id: "a" })],
  ["POST", "/v1/me/passkeys", { credential: {}, name: "Key" }, { authorization: "Bearer me" }, (service) => service.addPasskey("me", {}, { name: "Key" })],
  ["POST", "/v1/me/passkeys/remove", { passkey: "a" }, { authorization: "Bearer me" }, (service) => service.removePasskey("me", "a")],
  ["POST", "/v1/me/recovery", {}, { authorization: "Bearer me" }, (service) => service.newRecoveryCode("me")],
  ["POST", "/v1/me/devices/revoke", { device: "a" }, { authorization: "Bearer me" }, (service) => service.logOut("me", "a")],
  ["POST", "/v1/sign-in/options", {}, { origin: "https://page.example" }, (service) => service.signInOptions("", { origin: "https://page.example" })],
  ["POST", "/v1/sign-in", { credential: {} }, {}, (service) => service.signIn({})],
  ["POST", "/v1/sign-in", { credential: {} }, { authorization: "Bearer me" }, (service) => service.signIn({}, "me")],
  ["POST", "/v1/sign-in/recovery", { code: "A", nonce: "B" }, {}, (service) => service.recover("A", "B")],
  ["GET", "/v1/rooms/QJXKZB/record", null, {}, (service) => service.recordText("QJXKZB")],
  ["GET", "/v1/me/profile", null, ME, (service) => service.myProfile("me")],
  ["POST", "/v1/me/profile", { hidden: true }, ME, (service) => service.choose("me", { hidden: true })],
  ["GET", "/v1/people/a%2Fb", null, ME, (service) => service.profile("me", "a/b")],
  ["GET", "/v1/people?room=QJXKZB&seat=0", null, { ...ME, "towerhall-key": "key" }, (service) => service.profileAt("me", "QJXKZB", 0, "key")],
  ["GET", "/v1/me/games", null, ME, (service) => service.pastGames("me")],
  ["GET", "/v1/me/games?game=dice&seats=3&before=7&most=5", null, ME, (service) => service.pastGames("me", { game: "dice", seats: 3, before: 7, most: 5 })],
  ["GET", "/v1/people/ben/games?before=7", null, ME, (service) => service.pastGames("me", { before: 7 }, "ben")],
  ["GET", "/v1/leaderboards/a%20game", null, {}, (service) => service.leaderboard("a game")],
  ["GET", "/v1/leaderboards/dice?first=21&most=20", null, {}, (service) => service.leaderboard("dice", { first: 21, most: 20 })],
  ["GET", "/v1/me/people", null, ME, (service) => service.people("me")],
  ["POST", "/v1/me/friends", { handle: "ben" }, ME, (service) => service.befriend("me", { handle: "ben" })],
  ["POST", "/v1/me/friends", { room: "QJXKZB", seat: 1, remove: true }, { ...ME, "towerhall-key": "key" }, (service) => service.befriend("me", { room: "QJXKZB", seat: 1, remove: true }, "key")],
  ["POST", "/v1/me/blocks", { handle: "ben" }, ME, (service) => service.block("me", { handle: "ben" })],
  ["GET", "/v1/me/blocks?room=QJXKZB", null, { ...ME, "towerhall-key": "key" }, (service) => service.blockedIds("me", "QJXKZB", "key")],
  ["POST", "/v1/me/reports", { room: "QJXKZB", reason: "chat", seat: 1, lines: ["1-0"] }, ME, (service) => service.report("me", { room: "QJXKZB", reason: "chat", seat: 1, lines: ["1-0"] })],
  ["GET", "/v1/me/export", null, ME, (service) => service.export("me")],
  ["POST", "/v1/me/erase", { id: "my id" }, ME, (service) => service.erase("me", "my id")],
])("%s %s", async (method, path, body, headers, ask) => {
  const [service, requests] = answering({ games: [], rooms: [] });
  await ask(service);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ method, path, body, headers, cache: "no-store" });
  expect(requests[0]!.headers["content-type"]).toBe(body === null ? undefined : "application/json");
});

test("a recovery has a nonce of its own unless one is given", async () => {
  const [service, requests] = answering({});
  await service.recover("A");
  await service.recover("A");
  const nonces = requests.map(({ body }) => (body as { nonce: string }).nonce);
  for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{22}$/);
  expect(nonces[0]).not.toBe(nonces[1]);
});

test("answers about people are taken out of their envelopes", async () => {
  const [reporting] = answering({ lines: 3 }, 201);
  expect(await reporting.report("me", { handle: "ben", reason: "name" })).toBe(3);
  const [blocking] = answering({ ids: ["a", "b"] });
  expect(await blocking.blockedIds("me", "QJXKZB")).toEqual(["a", "b"]);
  const [past] = answering({ games: [], before: 4 });
  expect(await past.pastGames("me")).toEqual({ games: [], before: 4 });
});

test("a refusal has its code, its params and its hint", async () => {
  const [service] = answering({ error: { code: "too_many", params: { retry_ms: 500 }, hint: "too much at once" } }, 429);
  const error = await service.guest("Ada").catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: "too_many", status: 429, params: { retry_ms: 500 }, hint: "too much at once", retryMs: 500 });
});

test.each([
  ["a page of a proxy", "<html>", 502, { code: "bad_answer", status: 502 }],
  ["an error without a code", { error: 7 }, 400, { code: "bad_answer", status: 400 }],
  ["no object", "[]", 200, { code: "bad_answer", status: 0 }],
  ["no JSON", "ok", 200, { code: "bad_answer", status: 0 }],
])("%s is a bad answer", async (_name, answer, status, expected) => {
  const [service] = answering(answer, status);
  await expect(service.guest("Ada")).rejects.toMatchObject(expected);
});

test("a service that cannot be reached, and a record that is none", async () => {
  const service = new Service("http://play.example", () => Promise.reject(new TypeError("no network")));
  await expect(service.games()).rejects.toMatchObject({ code: "unreachable", hint: "no network", retryMs: undefined });
  const [other] = answering({});
  await expect(other.record("QJXKZB")).rejects.toMatchObject({ code: "bad_record" });
});
