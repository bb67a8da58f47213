/** Moves the focus with an arrow key: to the nearest stop in that direction. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}
export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

export function isArrow(key: string): key is Arrow {
  return key === "ArrowLeft" || key === "ArrowRight" || key === "ArrowUp" || key === "ArrowDown";
}

/** The index of the nearest box, or -1. Distance aside counts double, so that rows and columns are kept. */
export function nearest(from: Box, boxes: readonly Box[], arrow: Arrow): number {
  const here = middle(from);
  let [best, least] = [-1, Infinity];
  boxes.forEach((box, index) => {
    const there = middle(box);
    const [dx, dy] = [there.x - here.x, there.y - here.y];
    const [ahead, aside] = { ArrowLeft: [-dx, dy], ArrowRight: [dx, dy], ArrowUp: [-dy, dx], ArrowDown: [dy, dx] }[arrow] as [number, number];
    const far = ahead + 2 * Math.abs(aside);
    if (ahead > 4 && Math.abs(aside) < 2 * ahead + 40 && far < least) [best, least] = [index, far];
  });
  return best;
}

function middle(box: Box): { x: number; y: number } {
  return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
}
