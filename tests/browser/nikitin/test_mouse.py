"""The board in three dimensions by mouse: a whole game, a block that is dragged, the view."""

import pytest
from playwright.async_api import expect

from tests.browser.chromium import Visitors
from tests.browser.nikitin.player import Player, drawn, ghost, ghost_after, hand, heights_on
from tests.browser.nikitin.tables import in_phase, set_table
from tests.browser.waiting import until
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service


@pytest.mark.timeout(300)
async def test_a_whole_game_by_mouse(shared: ServerProcess, visitors: Visitors) -> None:
    """On a machine that does much else it takes two minutes."""
    table = await set_table(shared.url, until=in_phase("choose", "place"))
    page = await visitors.visit(table.address(shared.url), guest=table.guest)
    await drawn(page)
    player = Player(page)
    await expect(page.locator(".nikitin")).to_have_attribute("data-mode", "board")
    while await player.by_pointer():
        pass
    assert player.placed >= 5
    record = await Service(shared.url).record(table.room.code)
    await expect(page.get_by_role("heading", name="The game is over")).to_be_attached()
    assert await heights_on(page) == dict(enumerate(record["result"]["scores"]))
    winner = str(record["result"]["places"].index(1))
    await expect(page.locator(".own")).to_contain_text("Your place:")
    # The replay shows the tower that has won.
    await page.get_by_role("link", name="Watch the replay").click()
    await expect(page.locator(".nikitin")).to_have_attribute("data-look", winner)


async def test_a_block_is_placed_and_the_next_one_is_dragged_and_turned(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=in_phase("place"), moves=4)
    page = await visitors.visit(table.address(shared.url), guest=table.guest)
    await drawn(page)
    player = Player(page)
    while player.placed == 0 or (await player.decision())["what"] != "place":
        assert await player.by_pointer()
    await drawn(page)
    start = await ghost(page)
    x, y = await hand(page)
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 60, y + 10, steps=4)
    await page.mouse.up()
    moved = await ghost_after(page, start)
    assert moved.split("@")[0] == start.split("@")[0]
    await page.locator("[data-tool=move-left]").click()
    moved = await ghost_after(page, moved)
    if start.split(".")[0] != "A1":
        await page.locator("[data-tool=roll]").click()
        tipped = await ghost_after(page, moved)
        await page.keyboard.press("Shift+F")
        assert await ghost_after(page, tipped) == moved


async def test_the_view_turns_zooms_and_goes_from_tower_to_tower(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=in_phase("choose"), bots=2)
    page = await visitors.visit(table.address(shared.url), guest=table.guest)
    await drawn(page)
    plate = page.locator("[data-plate='1']")
    where = "(plate) => plate.style.left + plate.style.top"

    async def changed(before: str) -> str:
        look = """(before) => {
          const { left, top } = document.querySelector("[data-plate='1']").style;
          return left + top !== before && left + top;
        }"""
        return str(await until(page, look, before))

    seen = str(await plate.evaluate(where))
    box = await page.locator(".board3d canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + 20, box["y"] + box["height"] - 20
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 90, y, steps=3)
    await page.mouse.up()
    seen = await changed(seen)
    await page.mouse.wheel(0, -300)
    seen = await changed(seen)
    await page.keyboard.press("-")
    seen = await changed(seen)
    await page.keyboard.press("Shift+ArrowLeft")
    await changed(seen)
    board = page.locator(".nikitin")
    await expect(board).to_have_attribute("data-look", "all")
    # Turned and moved like that, it may be outside of the window.
    await plate.evaluate("(plate) => plate.click()")
    await expect(board).to_have_attribute("data-look", "1")
    await page.locator("[data-tool=all]").click()
    await expect(board).to_have_attribute("data-look", "all")
