"""Somebody who plays Nikitin Towers with what the page shows: by mouse, by finger or by keys.

What may be done is read from the page alone. Nothing is waited for but attributes of the page.
"""

from typing import Any, Final

from playwright.async_api import Page

from tests.browser.screen import FRAMES
from tests.browser.waiting import until

BOARD: Final = ".nikitin"
DECISION: Final = """
(after) => {
  const root = document.documentElement.dataset;
  const seq = Number(root.seq);
  if (!(seq > after)) return null;
  if (root.status === "over") return { what: "over", seq };
  const board = document.querySelector(".nikitin");
  if (!board || root.status !== "playing" || root.state !== "up") return null;
  const all = (selector) => [...board.querySelectorAll(selector)];
  const blocks = all("[data-block]:not(:disabled)").map((button) => button.dataset.block);
  if (blocks.length) return { what: "choose", seq, blocks };
  if (all("[data-roll] button:not(:disabled)").length) return { what: "roll", seq };
  if (!all("[data-place-now] button:not(:disabled)").length) return null;
  return { what: "place", seq, ghost: board.dataset.ghost, fits: board.dataset.fits === "true" };
}
"""
"""What there is to decide, once the page shows more than that commit."""

READY: Final = """
() => {
  const board = document.querySelector(".board3d");
  return board && board.dataset.ready === "true" && board.dataset.still === "true";
}
"""


async def drawn(page: Page) -> None:
    """Wait until the board is drawn and nothing moves."""
    await until(page, READY, None)


async def ghost(page: Page) -> str:
    """Where the held block would rest."""
    found = await page.locator(BOARD).get_attribute("data-ghost")
    assert found
    return found


async def ghost_after(page: Page, before: str) -> str:
    """Where the held block would rest, once that has changed."""
    look = """(before) => {
      const now = document.querySelector(".nikitin").dataset.ghost;
      return now !== before && now;
    }"""
    return str(await until(page, look, before))


async def hand(page: Page) -> tuple[float, float]:
    """Where the held block is on the screen, once it stays there for some frames."""
    before, now = None, await _hand(page)
    while now != before:
        await page.evaluate(FRAMES)
        before, now = now, await _hand(page)
    return now


async def _hand(page: Page) -> tuple[float, float]:
    box = await page.locator(f"{BOARD} canvas").first.bounding_box()
    text = await page.locator(".board3d").get_attribute("data-hand")
    assert box is not None
    assert text
    x, y = map(float, text.split(","))
    return box["x"] + x, box["y"] + y


async def heights_on(page: Page) -> dict[int, int]:
    """The heights in the result, by seat."""
    rows = await page.locator(".result tbody tr").evaluate_all(
        """(rows) => rows.map((row) => [
          Number(row.dataset.seat), Number(row.querySelector("[data-part=height]").textContent)])"""
    )
    return dict(rows)


class Player:
    """Makes the moves that are nearest: the first block, and the place where the block is."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._seq = -1
        self.moves = 0
        self.placed = 0

    async def decision(self) -> dict[str, Any]:
        found = await until(self.page, DECISION, self._seq, 40_000)
        assert isinstance(found, dict)
        return found

    def done(self, found: dict[str, Any]) -> None:
        """That decision was made by the test itself."""
        self._seq = found["seq"]
        self.moves += 1
        self.placed += found["what"] == "place"

    async def by_keys(self) -> bool:
        """One move by the keyboard; whether the game goes on."""
        found = await self.decision()
        if found["what"] == "over":
            return False
        await self.page.keyboard.press("1" if found["what"] == "choose" else "Enter")
        self.done(found)
        return True

    async def by_pointer(self, *, taps: bool = False) -> bool:
        """One move by mouse or finger; whether the game goes on."""
        found = await self.decision()
        if found["what"] == "over":
            return False
        selector = {
            "choose": f"[data-block='{(found.get('blocks') or [''])[-1]}']",
            "roll": "[data-roll] button",
            "place": "[data-place-now] button",
        }[found["what"]]
        target = self.page.locator(f"{BOARD} {selector}")
        await (target.tap() if taps else target.click())
        self.done(found)
        return True
