/** This device's subscription: when the person is asked, which key it has, and whom it is told for. */
import { beforeEach, expect, it, vi } from "vitest";

const KEY = "BA" + "A".repeat(85);
const OTHER_KEY = new Uint8Array(65).fill(9);
const told: unknown[] = [];
const settings = { push: false, language: "it", change: (part: object) => Object.assign(settings, part) };
const service = {
  pushKey: vi.fn(async () => KEY),
  subscribe: vi.fn(async (...given: unknown[]) => void told.push(given)),
  unsubscribe: vi.fn(async (...given: unknown[]) => void told.push(given)),
};
vi.mock("../src/app/settings.svelte", () => ({ settings }));
vi.mock("../src/app/session.svelte", () => ({ session: { service, guest: {}, ask: (question: (token: string) => unknown) => question("token") } }));

interface Subscription {
  endpoint: string;
  options: { applicationServerKey: ArrayBuffer };
  toJSON(): object;
  unsubscribe(): Promise<boolean>;
}
let subscription: Subscription | null;
let made: number;
let permission: NotificationPermission;

function subscribed(key: Uint8Array<ArrayBuffer>): Subscription {
  made += 1;
  const endpoint = `https://push.example/${made}`;
  return {
    endpoint,
    options: { applicationServerKey: key.buffer },
    toJSON: () => ({ endpoint, keys: { p256dh: "p", auth: "a" } }),
    unsubscribe: async () => ((subscription = null), true),
  };
}

const pushManager = {
  getSubscription: async () => subscription,
  subscribe: async ({ applicationServerKey }: { applicationServerKey: Uint8Array<ArrayBuffer> }) => (subscription = subscribed(applicationServerKey)),
};
const registration = { pushManager };
const { obstacle, renewHere, turnOff, turnOn } = await import("../src/away/push");

beforeEach(() => {
  [subscription, made, permission] = [null, 0, "default"];
  told.length = 0;
  settings.push = false;
  const notification = { requestPermission: async () => (permission = permission === "default" ? "granted" : permission), get permission() { return permission; } };
  vi.stubGlobal("window", { PushManager: {}, Notification: notification });
  vi.stubGlobal("Notification", notification);
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  const serviceWorker = { getRegistration: async () => registration, ready: Promise.resolve(registration) };
  vi.stubGlobal("navigator", { serviceWorker, userAgent: "X11", maxTouchPoints: 0 });
  Object.assign(window, { top: window });
});

it("asks, subscribes with the key of the service, and tells the service", async () => {
  expect(await turnOn()).toBeNull();
  expect(told).toEqual([["token", { endpoint: "https://push.example/1", p256dh: "p", auth: "a", language: "it" }]]);
  expect(new Uint8Array(subscription!.options.applicationServerKey)).toHaveLength(65);
  expect(settings.push).toBe(true);
});

it("keeps a subscription with that key, and replaces one with another", async () => {
  await turnOn();
  await renewHere();
  expect([made, told.length]).toEqual([1, 2]);
  subscription = subscribed(OTHER_KEY);
  await renewHere();
  expect(made).toBe(3);
  expect(told.at(-1)).toMatchObject(["token", { endpoint: "https://push.example/3" }]);
});

it("does nothing by itself for who did not want it", async () => {
  await renewHere();
  expect([made, told.length]).toEqual([0, 0]);
});

it("takes a denial for an answer", async () => {
  permission = "denied";
  expect(obstacle()).toBe("denied");
  expect(await turnOn()).toBe("denied");
  expect([made, settings.push]).toEqual([0, false]);
});

it("says what is missing", async () => {
  vi.stubGlobal("window", {});
  expect(obstacle()).toBe("impossible");
  vi.stubGlobal("navigator", { userAgent: "Mozilla/5.0 (iPhone)", maxTouchPoints: 5 });
  expect(obstacle()).toBe("install");
});

it("fails politely where the push service does", async () => {
  service.pushKey.mockRejectedValueOnce(new Error("away"));
  expect(await turnOn()).toBe("failed");
  expect(settings.push).toBe(false);
});

it("ends on both sides", async () => {
  await turnOn();
  await turnOff();
  expect(told.at(-1)).toEqual(["token", "https://push.example/1"]);
  expect([subscription, settings.push]).toEqual([null, false]);
});
