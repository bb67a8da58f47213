"""Games at play with live pictures, one of them on the hall, and the share picture of an end."""

import random
import struct

from playwright.async_api import Page, expect

from tests.browser.axe import violations
from tests.browser.chromium import Visitors
from tests.browser.tables import Finished, drop_record, is_building, set_table
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from towerhall_client.bot import random_policy
from towerhall_client.connection import connect
from towerhall_client.http import Service

PNG_HEAD = b"\x89PNG\r\n\x1a\n"
FOOT = "Open a saved game"
"""The link below the featured game."""


async def test_a_game_at_play_is_on_the_hall_changes_there_and_is_watched_by_one_press(
    server: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{server.url}#/live", phone=True)
    await expect(page.get_by_text("No public game is being played at the moment.")).to_be_visible()
    running = await set_table(server.url, until=is_building, bots=("easy", "easy"))

    await page.goto(server.url)
    async with page.expect_response("**/v1/live?*"):
        await page.get_by_role("link", name=FOOT).scroll_into_view_if_needed()
    featured = page.get_by_role("region", name="Live now")
    game = featured.locator(f"[data-live={running.room.code}]")
    await expect(game).to_have_attribute("data-seq", str(running.seq))
    await expect(game).to_contain_text(f"Move {running.seq}")
    towers = game.get_by_role("img", name="Towers of Ada, bot (easy)")
    await expect(towers).to_be_visible()
    assert not await violations(page)
    before = await towers.inner_html()

    policy = random_policy(random.Random(1))
    async with connect(server.url, running.room.code, running.guest.token, retry=QUICK) as table:
        for _ in range(6):
            assert await table.turn()
            await table.send(policy(table.view, table.offers))
    await expect(game).not_to_have_attribute("data-seq", str(running.seq))
    assert await towers.inner_html() != before

    await featured.get_by_role("link", name="All games at play").click()
    await expect(page.get_by_role("heading", level=1, name="Live now")).to_be_visible()
    row = page.get_by_role("listitem").locator(f"[data-live={running.room.code}]")
    await expect(row.get_by_role("img", name="Towers of Ada")).to_be_visible()
    assert not await violations(page)
    await row.get_by_role("button", name="Watch").press("Enter")
    await page.wait_for_url(f"**/#/r/{running.room.code}")
    await page.locator(":root[data-status=playing]").wait_for()


async def picture(page: Page) -> bytes:
    """Press the button, and read the file."""
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Share picture").click()
    saved = await download.value
    assert saved.suggested_filename.startswith("towerhall-")
    return (await saved.path()).read_bytes()


async def test_the_last_position_is_a_picture_at_the_table_and_for_a_record(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    guest = await Service(shared.url).guest("Eve")
    page = await visitors.visit(f"{shared.url}#/record", guest=guest)
    await drop_record(page, finished.record)
    of_record = await picture(page)
    assert of_record[:8] == PNG_HEAD
    assert struct.unpack(">2I", of_record[16:24]) == (1200, 630)
    assert len(of_record) > 50_000, "towers, hills and names are no plain surface"
    await expect(page.get_by_text("The picture is saved.")).to_be_visible()
    await page.goto(f"{shared.url}#/r/{finished.code}")
    assert await picture(page) == of_record, "a table and its record end in the same position"
