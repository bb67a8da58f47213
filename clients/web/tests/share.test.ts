/** The share picture: texts that fit, and what is drawn of a position. */
import { describe, expect, it, vi } from "vitest";

import { gently } from "../src/live/gently";
import { fitted, fittedName, type Measure } from "../src/share/fit";

/** Each character is half as wide as it is high. */
const measure: Measure = (text, size) => (size * [...text].length) / 2;

describe("a text in a picture", () => {
  it("is as large as fits", () => {
    expect(fitted("Ada", 1000, 32, 20, measure)).toEqual({ text: "Ada", size: 32 });
    expect(fitted("Maximiliana", 150, 32, 20, measure)).toEqual({ text: "Maximiliana", size: 27 });
  });

  it("is cut at the smallest size, between whole letters", () => {
    const { text, size } = fitted("👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀", 100, 32, 20, measure);
    expect(size).toBe(20);
    expect(text.endsWith("👩‍🚀…")).toBe(true);
    expect(measure(text, size)).toBeLessThanOrEqual(100);
  });

  it("has no character that no document holds", () => {
    expect(fitted("a\u0000b\ufffec\ud800", 1000, 32, 20, measure).text).toBe("a\ufffdb\ufffdc\ufffd");
  });

  it("is a name in two lines rather than a name that is cut", () => {
    expect(fittedName("Ada", 200, measure)).toEqual({ lines: ["Ada"], size: 32 });
    expect(fittedName("Maximiliana von Wolkenstein", 190, measure)).toEqual({ lines: ["Maximiliana", "von Wolkenstein"], size: 22 });
    const { lines, size } = fittedName("W".repeat(24), 190, measure);
    expect(lines.join("")).toBe("W".repeat(24));
    expect(lines).toHaveLength(2);
    expect(Math.max(...lines.map((line) => measure(line, size)))).toBeLessThanOrEqual(190);
    for (const line of fittedName("W".repeat(90), 190, measure).lines) expect(measure(line, 17)).toBeLessThanOrEqual(190);
  });
});

describe("asking gently", () => {
  function page() {
    const listeners = new Set<() => void>();
    const stub = { hidden: false, addEventListener: (_: string, told: () => void) => listeners.add(told), removeEventListener: (_: string, told: () => void) => listeners.delete(told) };
    vi.stubGlobal("document", stub);
    return { listeners, show: (hidden: boolean) => { stub.hidden = hidden; for (const told of listeners) told(); } };
  }

  it("asks at once and after each answer, but not while the page is hidden", async () => {
    vi.useFakeTimers();
    const { listeners, show } = page();
    let asked = 0;
    let answer: () => void = () => undefined;
    const stop = gently(() => { asked += 1; return new Promise((done) => (answer = done)); }, 5000);
    expect(asked).toBe(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked, "one question at a time").toBe(1);
    answer();
    await vi.advanceTimersByTimeAsync(4999);
    expect(asked).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toBe(2);
    show(true);
    answer();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(2);
    show(false);
    expect(asked, "at once when it is seen again").toBe(3);
    stop();
    answer();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(3);
    expect(listeners.size).toBe(0);
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("goes on after a question that failed", async () => {
    vi.useFakeTimers();
    page();
    let asked = 0;
    const stop = gently(async () => { asked += 1; throw new Error("no network"); }, 1000);
    await vi.advanceTimersByTimeAsync(2500);
    expect(asked).toBe(3);
    stop();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
});

describe("handing a picture over", () => {
  async function handedOver(navigator: object): Promise<[string, string[]]> {
    const saved: string[] = [];
    vi.stubGlobal("navigator", navigator);
    vi.stubGlobal("document", { createElement: () => ({ download: "", click() { saved.push(this.download); } }) });
    const { handOver } = await import("../src/share/share");
    const done = await handOver(new Blob(["x"], { type: "image/png" }), "towerhall-QJXKZB.png", "Five Towers");
    vi.unstubAllGlobals();
    return [done, saved];
  }

  it("goes to other programs where the browser can, with the file", async () => {
    const shared: { files: File[] }[] = [];
    const can = { canShare: () => true, share: async (what: { files: File[] }) => void shared.push(what) };
    expect(await handedOver(can)).toEqual(["shared", []]);
    expect(shared[0]!.files[0]!.name).toBe("towerhall-QJXKZB.png");
    expect(shared[0]!.files[0]!.type).toBe("image/png");
  });

  it("is a file elsewhere, and where the browser changes its mind", async () => {
    expect(await handedOver({})).toEqual(["saved", ["towerhall-QJXKZB.png"]]);
    expect(await handedOver({ canShare: () => false })).toEqual(["saved", ["towerhall-QJXKZB.png"]]);
    const late = { canShare: () => true, share: async () => { throw new DOMException("late", "NotAllowedError"); } };
    expect(await handedOver(late)).toEqual(["saved", ["towerhall-QJXKZB.png"]]);
  });

  it("is nothing if the person thinks better of it", async () => {
    const cancelled = { canShare: () => true, share: async () => { throw new DOMException("no", "AbortError"); } };
    expect(await handedOver(cancelled)).toEqual(["cancelled", []]);
  });
});
