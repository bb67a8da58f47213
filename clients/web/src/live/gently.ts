/** Asking again and again, but only while the page is looked at (P-222). */

/** Ask now, and `ms` after each answer. Nothing is asked while the page is hidden. Returns how to stop. */
export function gently(ask: () => Promise<void>, ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let asking = false;

  async function look(): Promise<void> {
    clearTimeout(timer);
    if (stopped || asking || document.hidden) return;
    asking = true;
    try {
      await ask();
    } catch {
      // What is shown may be old. The next answer may come.
    } finally {
      asking = false;
    }
    if (!stopped) timer = setTimeout(() => void look(), ms);
  }

  const seen = () => void look();
  document.addEventListener("visibilitychange", seen);
  void look();
  return () => {
    stopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", seen);
  };
}

/** Tell when an element comes onto the screen, and when it leaves it. */
export function onScreen(element: Element, told: (isSeen: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) => told(entries.at(-1)!.isIntersecting), { rootMargin: "80px" });
  observer.observe(element);
  return () => observer.disconnect();
}
