"""Every screen holds the table: large ones are filled, phones that lie show all that a turn needs.

The table never moves while a game goes on.
"""

from typing import Any, Final

import pytest
from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table
from tests.browser.nikitin.tables import set_table as set_nikitin
from tests.browser.screen import DESK, LYING, SMALL, comes_to, hidden, on_screen
from tests.browser.tables import is_bidding, is_building, set_table
from tests.end_to_end.servers import ServerProcess

LARGE: Final = {"width": 1920, "height": 1080}
LARGEST: Final = {"width": 2560, "height": 1440}
SIZES: Final = (SMALL, LYING, DESK, LARGE, LARGEST)
MOST_BARE: Final = 0.12
"""The share of a large screen that may be bare below the table."""

BOXES: Final = """
(selectors) => selectors.map((selector) => {
  const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect();
  return [left, top + scrollY, width, height].map((each) => Math.round(each));
})
"""


async def boxes(page: Page, *selectors: str) -> Any:
    return await page.evaluate(BOXES, list(selectors))


async def test_bids_and_own_towers_are_on_every_screen_and_large_ones_are_filled(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=is_bidding, bots=("easy", "easy"))
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    await at_table(page)
    await page.locator("[data-bid]").first.wait_for()
    cards = {}
    for size in SIZES:
        await page.set_viewport_size({"width": size["width"], "height": size["height"]})
        name = f"{size['width']}x{size['height']}"
        await on_screen(page, ".display", ".bids", ".mine .towers")
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        await comes_to(page, f"{wide} <= 0", True, name)
        own, small = (
            await page.locator(".display li").first.bounding_box(),
            await page.locator(".player .tower").first.bounding_box(),
        )
        assert own is not None
        assert small is not None
        cards[name] = (own["width"], small["width"])
        if size["width"] >= DESK["width"]:
            bottom = "document.querySelector('.five-towers').getBoundingClientRect().bottom"
            least, most = (1 - MOST_BARE) * size["height"], size["height"]
            await comes_to(page, f"{bottom} >= {least} && {bottom} <= {most}", True, name)
    # A pass that cannot be takes no room: one row of six.
    rows = "new Set([...document.querySelectorAll('.bids button')].map((e) => e.offsetTop)).size"
    for size in (SMALL, LYING):
        await page.set_viewport_size({"width": size["width"], "height": size["height"]})
        await comes_to(page, rows, 1, size)
    # Cards grow with the screen, the other players' too.
    for at in (0, 1):
        grown = [cards[name][at] for name in ("1280x800", "1920x1080", "2560x1440")]
        assert grown == sorted(grown)
        assert grown[2] > 1.5 * grown[0]


@pytest.mark.parametrize("size", [SMALL, LYING, DESK], ids=["upright", "lying", "desk"])
async def test_the_table_stays_where_it_is_through_all_phases(
    shared: ServerProcess, visitors: Visitors, size: dict[str, int]
) -> None:
    """Bids, builds, waits and refusals: nothing moves, nothing grows."""
    table = await set_table(shared.url, until=is_building, bots=("easy", "easy"))
    page = await visitors.visit(
        f"{shared.url}#/r/{table.room.code}", guest=table.guest, viewport=size
    )
    await at_table(page)
    parts = (".five-towers .board", ".middle", ".deed", ".mine", ".others", ".mine .towers")
    await page.locator("[data-build]").wait_for()
    first = await boxes(page, *parts)
    player = Player(page)
    seen = set[str]()
    while seen < {"call", "build"} or player.moves < 8:
        found = await player.decision()
        if found["what"] == "over":
            break
        seen.add(found["what"])
        await page.keyboard.press("9" if found["what"] == "call" else "b")
        if found["what"] == "call":
            await expect(page.locator(".why")).not_to_be_empty()
        assert await boxes(page, *parts) == first, found
        assert await player.move()
        # While it is not this player's turn.
        assert await boxes(page, *parts) == first, found
    assert seen == {"call", "build"}


@pytest.mark.parametrize("size", [SMALL, LYING, DESK], ids=["upright", "lying", "desk"])
async def test_the_board_of_nikitin_towers_stays_where_it_is_and_is_in_reach(
    shared: ServerProcess, visitors: Visitors, size: dict[str, int]
) -> None:
    table = await set_nikitin(shared.url, until=lambda game: game["phase"] == "choose", moves=2)
    page = await visitors.visit(table.address(shared.url), guest=table.guest, viewport=size)
    visitors.mean("WebGL")
    await at_table(page)
    parts = (".nikitin .scene", ".nikitin .strip", ".nikitin .dock")
    await page.locator("[data-block]").first.wait_for()
    first = await boxes(page, *parts)
    seen = set[str]()
    for _ in range(8):
        phase = await page.wait_for_function(
            """() => document.querySelector("[data-block]:not(:disabled)") ? "choose"
              : document.querySelector("[data-place-now] button:not(:disabled)") && "place" """
        )
        seen.add(str(await phase.json_value()))
        assert await boxes(page, *parts) == first, seen
        assert await hidden(page, *parts) == [], seen
        seq = int(await page.evaluate("document.documentElement.dataset.seq"))
        await page.keyboard.press("1" if await phase.json_value() == "choose" else "Enter")
        await at_table(page, seq=seq + 1)
        if seen == {"choose", "place"}:
            break
    assert seen == {"choose", "place"}
