"""axe-core, which finds what keeps people with disabilities out. It is no part of the page."""

from functools import cache
from pathlib import Path
from typing import Final

from playwright.async_api import Page

AXE: Final = (
    Path(__file__).resolve().parents[2] / "clients" / "node_modules" / "axe-core" / "axe.min.js"
)


@cache
def source() -> str:
    return AXE.read_text()


SETTLED: Final = """
() => Promise.allSettled(document.getAnimations()
  .filter((each) => each.effect.getComputedTiming().endTime < Infinity)
  .map((each) => each.finished))
"""
"""Half-way through a change of colours everything has the wrong contrast."""


COLOURS: Final = ("color-contrast", "link-in-text-block")
"""The default rules that look at colours, by its tag `cat.color`."""


async def violations(page: Page, *, colours: bool = False) -> list[str]:
    """What its default rules find, or those of them that look at colours: the rule, and where."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(source())
    await page.evaluate(SETTLED)
    found: list[str] = await page.evaluate(
        """async (wanted) => (await axe.run({ resultTypes: ["violations"], ...wanted }))
          .violations.flatMap(({ id, nodes }) => nodes.map(
            ({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`))""",
        {"runOnly": {"type": "rule", "values": COLOURS}} if colours else {},
    )
    return found
