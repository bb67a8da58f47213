"""One picture of many, side by side, each with its name."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Final

from playwright.async_api import Browser

WIDTH: Final = 1800
EACH: Final = 430
STYLE: Final = """
body { margin: 8px; display: flex; flex-wrap: wrap; gap: 8px; font: 13px sans-serif; }
figure { margin: 0; } img { display: block; border: 1px solid #888; }
"""


async def write_sheet(browser: Browser, pictures: Sequence[Path], into: Path) -> None:
    figures = "".join(
        f"<figure><img src='{each.as_uri()}' width='{EACH}'>{escape(each.stem)}</figure>"
        for each in pictures
    )
    # Only a document of a file may show files.
    source = into.with_suffix(".html")
    source.write_text(f"<!doctype html><style>{STYLE}</style>{figures}")
    page = await browser.new_page(viewport={"width": WIDTH, "height": 800})
    try:
        await page.goto(source.as_uri())
        await page.screenshot(path=into, full_page=True)
    finally:
        await page.close()
        source.unlink()
