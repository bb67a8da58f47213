/** The page's storage in this browser. Without storage (private windows) the page works as well. */

const PREFIX = "towerhall.";

export function kept<T>(name: string, fallback: T, isRight: (value: unknown) => value is T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    if (text === null) return fallback;
    const value: unknown = JSON.parse(text);
    return isRight(value) ? value : fallback;
  } catch {
    return fallback;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // A full or forbidden store only means that the next visit starts anew.
  }
}

/** Where this browser keeps things, if it does. */
export function storage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
