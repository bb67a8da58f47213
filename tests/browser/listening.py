"""What a screen reader has to say of a page: texts that appear in its live regions, in order."""

from typing import Final

from playwright.async_api import Page

HEARD: Final = """
(() => {
  window.heard = [];
  const within = (node) => (node.nodeType === 1 ? node : node.parentElement);
  const region = (node) => {
    const found = within(node)?.closest("[aria-live], [role=status], [role=alert], [role=log]");
    return found && found.getAttribute("aria-live") !== "off" ? found : null;
  };
  const say = (texts) => texts.map((text) => text?.trim()).filter(Boolean)
    .forEach((text) => window.heard.push(text));
  const hear = (records) => {
    // A region that comes with its text is not read, nor what a region brings twice.
    const fresh = new Set(records.flatMap(({ addedNodes }) => [...addedNodes]));
    const isNew = (found) => [...fresh].some((node) => node.contains(found));
    const changed = new Set();
    for (const { type, target, addedNodes } of records) {
      const found = region(target);
      if (!found || !found.isConnected || isNew(found)) continue;
      if (type === "characterData") changed.add(target);
      else for (const node of addedNodes) if (node.isConnected) changed.add(node);
    }
    say([...changed].map((node) => node.textContent));
  };
  const options = { childList: true, characterData: true, subtree: true };
  const start = () => new MutationObserver(hear).observe(document.documentElement, options);
  if (document.documentElement) start(); else addEventListener("DOMContentLoaded", start);
})()
"""
"""Lets a page keep what it says, from its beginning."""


async def heard(page: Page) -> list[str]:
    """What was said since the last question."""
    found: list[str] = await page.evaluate("window.heard.splice(0)")
    return found
