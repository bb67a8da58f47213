"""What the board costs, what moves, and what axe-core finds."""

import re
from typing import Literal

import pytest
from playwright.async_api import expect

from tests.browser.axe import violations
from tests.browser.chromium import Visitors
from tests.browser.nikitin.player import Player, drawn
from tests.browser.nikitin.tables import in_phase, set_table
from tests.browser.waiting import until
from tests.end_to_end.servers import ServerProcess

MOST_CALLS = 60
MOST_LATE_NEWS = 3
SOME_FRAMES = (
    "() => new Promise((done) => { let left = 20;"
    " const next = () => (left-- ? requestAnimationFrame(next) : done()); next(); })"
)
FRAMES = "Number(document.querySelector('.board3d').dataset.frames)"


async def test_three_towers_of_twenty_blocks_take_few_draw_calls(
    harness: str, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{harness}?seats=3&blocks=20&phase=place&seat=0&calm=1")
    await drawn(page)
    assert await page.locator("[data-plate]").count() == 3
    calls = int(await page.locator(".board3d").get_attribute("data-calls") or 0)
    assert 3 < calls <= MOST_CALLS
    # With shadows drawn anew, and a block that moves.
    await page.keyboard.press("r")
    await until(page, f"(before) => {FRAMES} > before", 1)
    await drawn(page)
    calls = int(await page.locator(".board3d").get_attribute("data-calls") or 0)
    assert 3 < calls <= MOST_CALLS


async def test_a_collapse_tumbles_and_comes_to_rest(harness: str, visitors: Visitors) -> None:
    page = await visitors.visit(
        f"{harness}?seats=2&blocks=8&phase=place&seat=0&fall=4", motion=True
    )
    await drawn(page)
    before = await page.evaluate(FRAMES)
    await page.keyboard.press("Enter")
    await expect(page.locator(".nikitin")).to_have_attribute("data-phase", "choose")
    await until(page, f"(before) => {FRAMES} > before + 3", before)
    await drawn(page)


async def test_with_less_motion_a_block_is_where_it_belongs_at_once(
    harness: str, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{harness}?seats=2&blocks=8&phase=place&seat=0&fall=4&calm=1")
    await drawn(page)
    before = await page.evaluate(FRAMES)
    await page.keyboard.press("Enter")
    await expect(page.locator(".nikitin")).to_have_attribute("data-phase", "choose")
    await expect(page.locator(".crash")).to_have_text(re.compile("^Crash! 4 blocks fall"))
    await until(page, f"(before) => {FRAMES} > before", before)
    await drawn(page)
    # One for the view, and one more if the camera goes elsewhere.
    assert await page.evaluate(FRAMES) <= before + 3


async def test_nothing_is_drawn_while_nothing_changes(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=in_phase("place"))
    page = await visitors.visit(table.address(shared.url), guest=table.guest)
    await drawn(page)
    # The page may get late news of the room just after the first drawing, such as presence.
    for _ in range(MOST_LATE_NEWS):
        before = await page.evaluate(FRAMES)
        await page.evaluate(SOME_FRAMES)
        if await page.evaluate(FRAMES) == before:
            break
    else:
        pytest.fail("the board is drawn although nothing changes")


async def test_the_winners_tower_has_its_moment_without_motion_too(
    harness: str, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{harness}?seats=3&blocks=8&phase=place&seat=0&over=1&calm=1")
    await drawn(page)
    await page.keyboard.press("Enter")
    board = page.locator(".nikitin")
    await expect(board).to_have_attribute("data-phase", "over")
    await drawn(page)
    await expect(board).not_to_have_attribute("data-look", "all")
    await expect(page.locator(".plate.first")).not_to_have_count(0)


@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_axe_finds_nothing_on_the_board(
    shared: ServerProcess, visitors: Visitors, colours: Literal["light", "dark"]
) -> None:
    table = await set_table(shared.url, until=in_phase("choose"), bots=2, moves=4)
    page = await visitors.visit(table.address(shared.url), guest=table.guest, color_scheme=colours)
    await drawn(page)
    found = {"choose": await violations(page)}
    player = Player(page)
    while (await player.decision())["what"] != "place":
        await player.by_keys()
    await drawn(page)
    found["place"] = await violations(page)
    await page.keyboard.press("v")
    await page.locator(".grid table").wait_for()
    found["grid"] = await violations(page)
    assert found == {"choose": [], "place": [], "grid": []}


async def test_refusals_are_told_in_words(shared: ServerProcess, visitors: Visitors) -> None:
    table = await set_table(shared.url, until=in_phase("place"))
    page = await visitors.visit(table.address(shared.url), guest=table.guest)
    await drawn(page)
    board = page.locator(".nikitin")
    for _ in range(8):
        if await board.get_attribute("data-fits") == "false":
            break
        await page.keyboard.press("ArrowLeft")
    await expect(board).to_have_attribute("data-fits", "false")
    await expect(page.get_by_text("Not possible here", exact=True)).to_be_visible()
    seq = await page.evaluate("document.documentElement.dataset.seq")
    await page.keyboard.press("Enter")
    await expect(page.locator(".why")).to_contain_text("level 1")
    assert await page.evaluate("document.documentElement.dataset.seq") == seq
    # There is a place: the mat is nearly empty.
    await page.locator("[data-give-back] button").click()
    await expect(page.locator(".why")).to_contain_text("Keep looking")
