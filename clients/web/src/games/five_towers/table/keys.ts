/** The keys of the board. They work wherever the focus is, unless it is in a text field or a dialog is open. */
import { isArrow, nearest } from "../play/rove";

export interface Hands {
  bid(number: number): void;
  pass(): void;
  /** The open card at that place, from 0. */
  pick(place: number): void;
  /** The top of the tower at that place, from 0. */
  demolish(place: number): void;
  undo(): void;
  build(): void;
  /** Which of these mean anything now. */
  phase: "bid" | "build" | "none";
}

const TYPING = "input, textarea, select, [contenteditable], dialog[open] *";

/** Whether the key was used. */
export function press(event: KeyboardEvent, board: HTMLElement, hands: Hands): boolean {
  const target = event.target instanceof Element ? event.target : null;
  if (event.defaultPrevented || event.isComposing || target?.matches(TYPING) || document.querySelector("dialog[open]")) return false;
  if (isArrow(event.key) && !event.altKey && !event.ctrlKey && !event.metaKey) return target !== null && rove(event.key, target, board);
  const chord = event.ctrlKey || event.metaKey;
  if (hands.phase === "build" && chord && event.key.toLowerCase() === "z") return done(hands.undo);
  if (chord || event.altKey || event.repeat) return false;
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code)?.[1] ?? /^[0-9]$/.exec(event.key)?.[0];
  if (hands.phase === "bid") {
    if (digit !== undefined && !event.shiftKey) return done(() => hands.bid(Number(digit)));
    if (event.key.toLowerCase() === "p") return done(hands.pass);
  }
  if (hands.phase === "build") {
    if (digit !== undefined && digit >= "1" && digit <= "5") return done(() => (event.shiftKey ? hands.demolish : hands.pick)(Number(digit) - 1));
    if (event.key === "Backspace") return done(hands.undo);
    if (event.key.toLowerCase() === "b" || (event.key === "Enter" && !target?.closest("button, a, summary"))) return done(hands.build);
  }
  return false;
}

function done(deed: () => void): true {
  deed();
  return true;
}

function rove(arrow: Parameters<typeof nearest>[2], from: Element, board: HTMLElement): boolean {
  if (!board.contains(from) || !from.matches("[data-stop]")) return false;
  const stops = [...board.querySelectorAll<HTMLElement>("[data-stop]:not(:disabled)")].filter((stop) => stop !== from);
  const next = stops[nearest(from.getBoundingClientRect(), stops.map((stop) => stop.getBoundingClientRect()), arrow)];
  next?.focus();
  return next !== undefined;
}
