/** Mouse, pen and fingers on the board: what is dragged, turned, pinched or tapped. */
export interface Grip {
  /** Whether the held block is there; then the drag moves it. */
  grab(x: number, y: number): boolean;
  drag(x: number, y: number): void;
  turn(dx: number, dy: number): void;
  zoom(factor: number): void;
  tap(x: number, y: number): void;
  done(): void;
}

const SLACK = 6;
const TURN_PER_PIXEL = 0.0085;
const ZOOM_PER_PIXEL = 0.0015;

interface Finger {
  x: number;
  y: number;
}

/** Listens on the canvas until the signal ends it. */
export function listen(canvas: HTMLCanvasElement, grip: Grip, signal: AbortSignal): void {
  const fingers = new Map<number, Finger>();
  let start: Finger | null = null;
  let isHeld = false;
  let isMoved = false;
  const at = (event: MouseEvent): Finger => {
    const rect = canvas.getBoundingClientRect();
    return { x: event.clientX - rect.left, y: event.clientY - rect.top };
  };
  const on = <Type extends keyof HTMLElementEventMap>(type: Type, heard: (event: HTMLElementEventMap[Type]) => void) =>
    canvas.addEventListener(type, heard, { signal, passive: false });

  on("pointerdown", (event) => {
    const finger = at(event);
    fingers.set(event.pointerId, finger);
    canvas.setPointerCapture(event.pointerId);
    if (fingers.size > 1) return void (isMoved = true);
    start = finger;
    isMoved = false;
    isHeld = event.button === 0 && grip.grab(finger.x, finger.y);
  });
  on("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before || !start) return;
    const now = at(event);
    if (fingers.size === 2) pinch(fingers, event.pointerId, now, grip);
    fingers.set(event.pointerId, now);
    if (fingers.size > 1) return;
    isMoved ||= Math.hypot(now.x - start.x, now.y - start.y) > SLACK;
    if (!isMoved) return;
    if (isHeld) grip.drag(now.x, now.y);
    else grip.turn((now.x - before.x) * TURN_PER_PIXEL, (now.y - before.y) * TURN_PER_PIXEL);
  });
  const end = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId) || fingers.size) return;
    if (!isMoved && start && event.type === "pointerup" && event.button === 0) grip.tap(start.x, start.y);
    start = null;
    grip.done();
  };
  on("pointerup", end);
  on("pointercancel", end);
  on("wheel", (event) => {
    event.preventDefault();
    grip.zoom(Math.exp(-event.deltaY * ZOOM_PER_PIXEL));
  });
}

/** Two fingers: apart is nearer, together is farther; both aside turn the view. */
function pinch(fingers: ReadonlyMap<number, Finger>, moved: number, now: Finger, grip: Grip): void {
  const [still] = [...fingers].filter(([id]) => id !== moved).map(([, finger]) => finger);
  const before = fingers.get(moved);
  if (!still || !before) return;
  const [was, is] = [before, now].map((finger) => Math.hypot(finger.x - still.x, finger.y - still.y));
  if (was! > 10) grip.zoom(is! / was!);
  grip.turn(((now.x - before.x) / 2) * TURN_PER_PIXEL, ((now.y - before.y) / 2) * TURN_PER_PIXEL);
}
