/**
 * Cards that fly when a frame arrives. Decoration only: the board underneath shows the view at once and takes input all the
 * time. Copies of cards fly in a layer of their own; the card that stands at the end is hidden until its copy has come.
 */
import type { Kind } from "../play/cards";
import { PILE, type Move } from "../play/moves";

const FLIGHT_MS = 400;
/** The id of animations that hide a card until its copy has come. */
const HIDING = "hiding";
const EASE = "cubic-bezier(.25,.8,.3,1)";

interface Start {
  move: Move;
  rect: DOMRect;
  /** A copy of the card as it was; none for cards that come off the pile. */
  copy: HTMLElement | null;
}

export function wantsCalm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches || document.documentElement.dataset["motion"] === "less";
}

function at(board: HTMLElement, place: string, look = ""): HTMLElement | null {
  return board.querySelector<HTMLElement>(`[data-place="${CSS.escape(place)}"]${look}`);
}

/** Before the board changes: where the cards of these moves are. */
export function takeOff(board: HTMLElement, moves: readonly Move[]): Start[] {
  return moves.flatMap((move) => {
    // A card that was planned there lies there already.
    if (at(board, move.to, ".ghost")) return [];
    const element = at(board, move.from);
    if (!element) return [];
    const copy = move.from === PILE ? null : (element.cloneNode(true) as HTMLElement);
    return [{ move, rect: element.getBoundingClientRect(), copy }];
  });
}

/** Ends all flights: the cards of an older move lie where they are. */
export function land(board: HTMLElement, layer: HTMLElement): void {
  layer.replaceChildren();
  for (const animation of board.getAnimations({ subtree: true })) if (animation.id === HIDING) animation.cancel();
}

/** After the board has changed: let them fly. */
export function fly(board: HTMLElement, layer: HTMLElement, starts: readonly Start[]): void {
  land(board, layer);
  const origin = layer.getBoundingClientRect();
  for (const { move, rect, copy } of starts) {
    const end = at(board, move.to);
    if (!end) continue;
    const flyer = copy ?? (end.cloneNode(true) as HTMLElement);
    const size = copy ? rect : end.getBoundingClientRect();
    launch(layer, flyer, origin, rect, end.getBoundingClientRect(), size, move);
    if (move.stays) end.animate([{ opacity: 0 }, { opacity: 0 }], { duration: move.delay + FLIGHT_MS, id: HIDING });
  }
}

/** Towers that were just finished shine once their spire has come. */
export function crown(board: HTMLElement, finished: readonly { seat: number; kind: Kind }[]): void {
  for (const { seat, kind } of finished) {
    board.querySelector(`[data-seat="${seat}"] [data-drop="${kind}"]`)?.animate(
      [{}, { transform: "translateY(-6%)", filter: "brightness(1.2) drop-shadow(0 0 10px #ffc53d)" }, {}],
      { id: "spire", duration: 900, delay: FLIGHT_MS, easing: "ease-in-out" },
    );
  }
}

function launch(layer: HTMLElement, flyer: HTMLElement, origin: DOMRect, from: DOMRect, to: DOMRect, size: DOMRect, move: Move): void {
  flyer.removeAttribute("data-place");
  flyer.style.cssText = `position:absolute;left:0;top:0;margin:0;width:${size.width}px;height:${size.height}px;transform-origin:0 0`;
  layer.append(flyer);
  const placed = (rect: DOMRect, turn = "") =>
    `translate(${rect.left - origin.left}px,${rect.top - origin.top}px) scale(${rect.width / size.width},${rect.height / size.height})${turn}`;
  const dealt = move.from === PILE;
  const frames = [
    { transform: placed(from, dealt ? " perspective(600px) rotateY(80deg)" : ""), opacity: dealt ? 0 : 1 },
    ...(dealt ? [{ opacity: 1, offset: 0.2 }] : []),
    { transform: placed(to, dealt ? " perspective(600px) rotateY(0deg)" : ""), opacity: move.stays ? 1 : 0.2 },
  ];
  const flight = flyer.animate(frames, { duration: FLIGHT_MS, delay: move.delay, easing: EASE, fill: "backwards" });
  flight.finished.then(() => flyer.remove(), () => flyer.remove());
}
