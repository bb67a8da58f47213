/** The keys of the board. They work wherever the focus is, unless it is in a text field or a dialog is open. */
import type { Way } from "../play/turning";

export interface Hands {
  phase: "roll" | "choose" | "place" | "none";
  roll(): void;
  /** The block at that place of the tray, from 0. */
  choose(place: number): void;
  turn(way: Way, times: number): void;
  /** As the viewer sees it. */
  move(right: number, away: number): void;
  place(): void;
  giveBack(): void;
  orbit(dx: number, dy: number): void;
  zoom(factor: number): void;
  /** The tower at that place, from 0; null: all. */
  look(place: number | null): void;
  swap(): void;
}

const TYPING = "input, textarea, select, [contenteditable], dialog[open] *";
const WAYS: Readonly<Record<string, Way>> = { r: "turn", t: "tip", f: "roll" };
const ARROWS: Readonly<Record<string, readonly [right: number, away: number]>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const ORBIT = 0.26;
const ZOOM = 1.2;

/** Whether the key was used. */
export function press(event: KeyboardEvent, board: HTMLElement, hands: Hands): boolean {
  const target = event.target instanceof Element ? event.target : null;
  if (event.defaultPrevented || event.isComposing || target?.matches(TYPING) || document.querySelector("dialog[open]")) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  // A click on the board leaves the focus on what is around it.
  const isHere = target === null || target.contains(board) || board.contains(target);
  const arrow = ARROWS[event.key];
  if (arrow) return isHere && arrows(arrow, event.shiftKey, target !== null && board.contains(target), hands);
  const name = event.key.toLowerCase();
  if (event.key === "+" || event.key === "-") return done(() => hands.zoom(event.key === "+" ? ZOOM : 1 / ZOOM));
  if (name === "v" && !event.repeat) return done(hands.swap);
  if (name === "0" || event.key === "Home") return done(() => hands.look(null));
  const digit = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : null;
  if (hands.phase === "choose" && digit !== null) return !event.repeat && done(() => hands.choose(digit));
  if (digit !== null) return done(() => hands.look(digit));
  if (hands.phase === "place") return building(event, name, target, hands);
  if (hands.phase === "roll" && event.key === "Enter" && !target?.closest("button, a, summary")) return done(hands.roll);
  return false;
}

function building(event: KeyboardEvent, name: string, target: Element | null, hands: Hands): boolean {
  const way = WAYS[name];
  if (way) return done(() => hands.turn(way, event.shiftKey ? -1 : 1));
  if (event.repeat) return false;
  if (event.key === "Enter" && !target?.closest("button, a, summary")) return done(hands.place);
  if (name === "b") return done(hands.giveBack);
  return false;
}

function arrows([right, away]: readonly [number, number], isShifted: boolean, isInside: boolean, hands: Hands): boolean {
  if (hands.phase === "place" && !isShifted) return done(() => hands.move(right, away));
  // Elsewhere plain arrows scroll the page.
  if (!isShifted && !isInside) return false;
  return done(() => hands.orbit(-right * ORBIT, away * ORBIT));
}

function done(deed: () => void): true {
  deed();
  return true;
}
