"""Sizes of screens, and what of a page is on them."""

from time import monotonic
from typing import Any, Final

from playwright.async_api import Page

from tests.browser.chromium import PATIENCE_MS

SMALL: Final = {"width": 360, "height": 640}
LYING: Final = {"width": 844, "height": 390}
DESK: Final = {"width": 1280, "height": 800}

FRAMES: Final = """
() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
"""
SEEN: Final = """
(selectors) => selectors.filter((selector) => {
  const part = document.querySelector(selector);
  const { left, top, right, bottom } = part.getBoundingClientRect();
  const foot = document.querySelector("nav.foot")?.getBoundingClientRect();
  const low = foot && foot.left === 0 ? foot.top : innerHeight;
  return !(left >= 0 && top >= 0 && right <= innerWidth + 1 && bottom <= low + 1);
})
"""
"""The parts that are not wholly on the screen without scrolling."""


async def hidden(page: Page, *selectors: str) -> Any:
    # What depends on the size of the window is there after the next frame.
    await page.evaluate(FRAMES)
    return await page.evaluate(SEEN, list(selectors))


async def on_screen(page: Page, *selectors: str) -> None:
    """Wait until they are wholly on the screen. A table takes some frames to settle after its
    window has changed, and no change of the document tells of the last one."""
    end = monotonic() + PATIENCE_MS / 1000
    while missing := await hidden(page, *selectors):
        assert monotonic() < end, missing


async def comes_to(page: Page, look: str, wanted: object, name: object = "") -> None:
    """Wait until an expression has that value on the page. A table takes some frames to settle."""
    end = monotonic() + PATIENCE_MS / 1000
    while (found := await page.evaluate(look)) != wanted:
        assert monotonic() < end, (name, look, found)
        await page.evaluate(FRAMES)
