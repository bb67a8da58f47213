"""The grid: a whole game by the keyboard, in words, and where there is no WebGL."""

import re

import pytest
from playwright.async_api import Request, expect

from tests.browser.chromium import Visitors
from tests.browser.nikitin.player import Player, drawn, ghost, ghost_after
from tests.browser.nikitin.tables import in_phase, set_table
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

NO_WEBGL = """
const plain = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind.startsWith("webgl") ? null : plain.call(this, kind, ...more);
};
"""
LOSE = """
(canvas) => {
  window.lost = canvas.getContext("webgl2").getExtension("WEBGL_lose_context");
  window.lost.loseContext();
}
"""
THREE = re.compile(r"/assets/world-")


@pytest.mark.parametrize("most", [1, 1000], ids=["some", "all"])
@pytest.mark.timeout(180)
async def test_turns_in_the_grid_by_keyboard(
    shared: ServerProcess, visitors: Visitors, most: int
) -> None:
    """Until the first block is placed, and a whole game."""
    options = {"auto_roll": False, "win": "ring"}
    table = await set_table(shared.url, until=in_phase("roll", "choose", "place"), options=options)
    page = await visitors.visit(table.address(shared.url), guest=table.guest)
    board = page.locator(".nikitin")
    await board.wait_for()
    await page.keyboard.press("v")
    await expect(board).to_have_attribute("data-mode", "grid")
    player = Player(page)
    while (await player.decision())["what"] != "place":
        assert await player.by_keys()
    before = await ghost(page)
    words = page.locator(".dock [role=status]").first
    for key, back in (("ArrowRight", "ArrowLeft"), ("ArrowUp", "ArrowDown")):
        await page.keyboard.press(key)
        moved = await ghost_after(page, before)
        column = re.search(r"@(-?\d+),(-?\d+)", moved)
        assert column is not None
        await expect(words).to_contain_text(f"column {column[1]}, {column[2]}")
        await page.keyboard.press(back)
        assert await ghost_after(page, moved) == before
    while player.placed < most and await player.by_keys():
        pass
    if player.placed == most:
        return
    record = await Service(shared.url).record(table.room.code)
    rings = page.locator(".result [data-part=ring]")
    shown = sorted(map(int, await rings.all_inner_texts()))
    assert shown == sorted(record["result"]["scores"])


async def test_without_webgl_the_grid_is_shown_and_played(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=in_phase("choose", "place"), moves=4)
    context = await visitors.context(shared.url, guest=table.guest)
    await context.add_init_script(NO_WEBGL)
    page = await context.new_page()
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    await page.goto(table.address(shared.url))
    board = page.locator(".nikitin")
    await expect(board).to_have_attribute("data-mode", "grid")
    await expect(page.get_by_text("This browser cannot draw the board")).to_be_visible()
    await expect(page.locator("[data-tool=mode]")).to_have_count(0)
    player = Player(page)
    for _ in range(3):
        assert await player.by_keys()
    assert not any(map(THREE.search, asked))


async def test_a_lost_context_shows_the_grid_until_it_is_back(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=in_phase("choose", "place"))
    page = await visitors.visit(table.address(shared.url), guest=table.guest)
    visitors.mean("Context Lost", "CONTEXT_LOST", "context")
    await drawn(page)
    await page.locator(".board3d canvas").evaluate(LOSE)
    board = page.locator(".nikitin")
    await expect(board).to_have_attribute("data-mode", "grid")
    await page.evaluate("window.lost.restoreContext()")
    await expect(board).to_have_attribute("data-mode", "board")
    await drawn(page)


async def test_the_hall_and_five_towers_load_no_three_dimensions(
    shared: ServerProcess, visitors: Visitors
) -> None:
    context = await visitors.context(shared.url)
    page = await context.new_page()
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    await page.goto(shared.url)
    await page.locator("[data-lobby=up]").wait_for()
    await page.evaluate("() => { location.hash = '#/rules/five_towers' }")
    await page.locator("article h2").first.wait_for()
    assert any("/assets/" in url for url in asked)
    assert not any(map(THREE.search, asked))
