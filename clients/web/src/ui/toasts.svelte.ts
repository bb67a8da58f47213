/** Short messages that go away by themselves. */

export interface Message {
  id: number;
  text: string;
  kind: "plain" | "bad";
}

const SHOWN_MS = { plain: 6000, bad: 10_000 };
const MOST = 3;

let last = 0;
let shown = $state.raw<readonly Message[]>([]);

export function toasts(): readonly Message[] {
  return shown;
}

export function toast(text: string, kind: Message["kind"] = "plain"): void {
  const message = { id: ++last, text, kind };
  shown = [...shown.filter((each) => each.text !== text), message].slice(-MOST);
  setTimeout(() => dismiss(message.id), SHOWN_MS[kind]);
}

export function dismiss(id: number): void {
  shown = shown.filter((message) => message.id !== id);
}
