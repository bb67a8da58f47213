"""A phone, 360 pixels wide: all that a builder and a neighbour do, by finger."""

from collections.abc import Sequence

import pytest
from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.nikitin.player import Player, drawn, ghost, ghost_after, hand, heights_on
from tests.browser.nikitin.tables import in_phase, set_table
from tests.browser.test_touch import misfits
from tests.browser.waiting import until
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

STEPS = 4
Point = tuple[float, float]
WHERE = """(before) => {
  const { left, top } = document.querySelector("[data-plate='0']").style;
  return left + top !== before && left + top;
}"""


async def swipe(page: Page, *fingers: tuple[Point, Point]) -> None:
    """Put fingers on the page, move each from its first point to its second, lift them."""
    devtools = await page.context.new_cdp_session(page)

    async def touch(kind: str, points: Sequence[Point]) -> None:
        touches = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        await devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def after(share: float) -> list[Point]:
        return [(a + share * (c - a), b + share * (d - b)) for (a, b), (c, d) in fingers]

    await touch("touchStart", after(0))
    for step in range(1, STEPS + 1):
        await touch("touchMove", after(step / STEPS))
    await touch("touchEnd", [])
    await devtools.detach()


@pytest.mark.parametrize("most", [2, 1000], ids=["some", "all"])
@pytest.mark.timeout(300)
async def test_turns_by_finger_on_a_phone(
    shared: ServerProcess, visitors: Visitors, most: int
) -> None:
    """Either of the two kinds of turns, and a whole game."""
    is_whole = most > 2
    table = await set_table(shared.url, until=in_phase("choose"), moves=0 if is_whole else 4)
    page = await visitors.visit(table.address(shared.url), guest=table.guest, phone=True)
    await drawn(page)
    player = Player(page)
    wrong = {}
    seen = set[str]()
    goes_on = True
    while goes_on and (seen < {"choose", "place"} or player.placed < most):
        found = await player.decision()
        if found["what"] not in (*seen, "over") and (misfit := await misfits(page)):
            wrong[found["what"]] = misfit
        seen.add(found["what"])
        if found["what"] == "place" and player.placed == 0:
            before = await ghost(page)
            await page.locator("[data-tool=move-up]").tap()
            moved = await ghost_after(page, before)
            await page.locator("[data-tool=move-down]").tap()
            assert await ghost_after(page, moved) == before
        goes_on = await player.by_pointer(taps=True)
    assert wrong == {}
    assert goes_on != is_whole
    if is_whole:
        record = await Service(shared.url).record(table.room.code)
        await expect(page.get_by_role("heading", name="The game is over")).to_be_attached()
        assert await heights_on(page) == dict(enumerate(record["result"]["scores"]))


async def test_a_finger_drags_the_block_and_two_turn_and_zoom_the_view(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=in_phase("place"), moves=4)
    page = await visitors.visit(table.address(shared.url), guest=table.guest, phone=True)
    await drawn(page)
    before = await ghost(page)
    x, y = await hand(page)
    await swipe(page, ((x, y), (x + 50, y + 8)))
    moved = await ghost_after(page, before)
    assert moved.split("@")[0] == before.split("@")[0]
    await drawn(page)

    where = str(await until(page, WHERE, ""))
    box = await page.locator(".board3d canvas").bounding_box()
    assert box is not None
    middle = box["y"] + 40
    left, right = box["x"] + 60, box["x"] + 120
    await swipe(
        page, ((left, middle), (left - 30, middle)), ((right, middle), (right + 30, middle))
    )
    where = str(await until(page, WHERE, where))
    await swipe(page, ((left, middle), (left + 60, middle)))
    await until(page, WHERE, where)
    assert await ghost(page) == moved
    # The page itself has neither been scrolled nor zoomed.
    assert await page.evaluate("[scrollX, visualViewport.scale]") == [0, 1]


async def test_the_grid_fits_a_phone(shared: ServerProcess, visitors: Visitors) -> None:
    table = await set_table(shared.url, until=in_phase("place"), moves=4, bots=2)
    page = await visitors.visit(table.address(shared.url), guest=table.guest, phone=True)
    await drawn(page)
    await page.locator("[data-tool=mode]").tap()
    await page.locator(".grid table").wait_for()
    found = await misfits(page)
    # Columns are smaller than a finger: the buttons below move the block as well.
    small = [each for each in found.get("small", []) if "data-column" not in each]
    assert (found.get("wide", []), small) == ([], [])
