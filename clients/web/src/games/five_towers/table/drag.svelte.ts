/** Dragging an open card onto a tower, by mouse, pen or finger. A short press stays a click. */
import type { Card, Kind } from "../play/cards";

const SLACK = 8;

export class Drag {
  /** The card on its way, or null. */
  card = $state.raw<Card | null>(null);
  readonly #layer: () => HTMLElement | undefined;
  readonly #drop: (card: Card, tower: Kind) => void;

  constructor(layer: () => HTMLElement | undefined, drop: (card: Card, tower: Kind) => void) {
    this.#layer = layer;
    this.#drop = drop;
  }

  grab(event: PointerEvent, card: Card): void {
    if (event.button !== 0 || !event.isPrimary) return;
    const held = event.currentTarget as HTMLElement;
    const { clientX, clientY } = event;
    let copy: HTMLElement | null = null;
    const move = (moved: PointerEvent) => {
      const [dx, dy] = [moved.clientX - clientX, moved.clientY - clientY];
      if (!copy && Math.hypot(dx, dy) > SLACK) {
        copy = this.#lift(held);
        this.card = card;
        held.setPointerCapture(moved.pointerId);
      }
      if (copy) copy.style.transform = `translate(${dx}px, ${dy}px) rotate(3deg)`;
    };
    const end = (last: PointerEvent) => {
      stop.abort();
      if (!copy) return;
      copy.remove();
      this.card = null;
      // The click that follows a drag is not meant.
      const swallowing = new AbortController();
      held.addEventListener("click", (click) => click.stopImmediatePropagation(), { capture: true, signal: swallowing.signal });
      setTimeout(() => swallowing.abort());
      if (last.type === "pointerup") this.#land(last, card);
    };
    const stop = new AbortController();
    for (const [type, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]] as const)
      held.ownerDocument.addEventListener(type, listener, { signal: stop.signal });
  }

  #land(event: PointerEvent, card: Card): void {
    const under = document.elementsFromPoint(event.clientX, event.clientY);
    const tower = under.map((element) => element.closest<HTMLElement>(".mine [data-drop]")).find(Boolean);
    if (tower) this.#drop(card, tower.dataset["drop"] as Kind);
  }

  #lift(held: HTMLElement): HTMLElement {
    const layer = this.#layer();
    const copy = held.querySelector("[data-place]")!.cloneNode(true) as HTMLElement;
    const [rect, origin] = [held.getBoundingClientRect(), layer?.getBoundingClientRect() ?? new DOMRect()];
    copy.removeAttribute("data-place");
    copy.style.cssText = `position:absolute;left:${rect.left - origin.left}px;top:${rect.top - origin.top}px;width:${rect.width}px;height:${rect.height}px;transition:none`;
    layer?.append(copy);
    return copy;
  }
}
