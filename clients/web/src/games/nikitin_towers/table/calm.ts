/** Whether things should rather appear than move: by the wish of the system, or of the page's settings. */
export function wantsCalm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches || document.documentElement.dataset["motion"] === "less";
}
