"""Addresses that the server sees, and the visitors whom they bring: to a room, or to a record."""

from collections.abc import Iterator

import pytest
from playwright.async_api import expect

from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.tables import finish, room_of
from tests.browser.waiting import until
from tests.end_to_end.brief import BriefProcess, gone
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from towerhall_client.connection import connect
from towerhall_client.http import Service


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose rooms are removed soon after their end."""
    folder = tmp_path_factory.mktemp("brief") / "data"
    with running(folder, limits=LIMITS, kind=BriefProcess) as process:
        yield process


async def test_an_invited_visitor_is_told_by_whom_and_sits_down_by_one_press(
    shared: ServerProcess, visitors: Visitors
) -> None:
    host = await Service(shared.url).guest("<b>Ada</b>")
    room = await room_of(shared.url, host, seats=4)
    async with connect(shared.url, room.code, host.token, retry=QUICK) as table:
        await table.sit()
        # A browser that has no guest yet meets the door.
        new = await visitors.visit(f"{shared.url}r/{room.code}", game=None)
        await expect(
            new.get_by_text("<b>Ada</b> invites you to a game of Five Towers.")
        ).to_be_visible()
        await new.get_by_label("Your name").fill("Cyd")
        buttons = new.locator("main button")
        await expect(buttons.first).to_have_text("Sit down and play")
        await buttons.first.click()
        await at_table(new, status="waiting")
        await expect(new.get_by_role("button", name="I am ready")).to_be_visible()
        # The address is the page's own from now on.
        assert new.url == f"{shared.url}#/r/{room.code}"
        # A browser that has one comes to the table at once.
        ben = await Service(shared.url).guest("Ben")
        known = await visitors.visit(f"{shared.url}r/{room.code}", guest=ben)
        await at_table(known, status="waiting")
        await expect(known.get_by_text("<b>Ada</b> invites you to a game of")).to_be_visible()
        first = known.locator("main .waiting button").first
        await expect(first).to_have_text("Sit down and play")
        box = await first.bounding_box()
        other = await known.get_by_role("button", name="Sit here").first.bounding_box()
        assert box is not None
        assert other is not None
        assert box["width"] * box["height"] > 2 * other["width"] * other["height"]
        await first.click()
        await expect(known.get_by_role("button", name="I am ready")).to_be_visible()
        await expect(known.get_by_role("button", name="Sit down and play")).to_have_count(0)
        # The dialog gives away the address that has a preview.
        await known.get_by_role("button", name="Invite people").click()
        link = known.get_by_role("dialog").get_by_label("Link", exact=True)
        await expect(link).to_have_value(f"{shared.url}r/{room.code}")
        # A visitor who only wants to watch can.
        watcher = await visitors.visit(f"{shared.url}r/{room.code}")
        await watcher.get_by_role("button", name="Just watch").click()
        await at_table(watcher, status="waiting")
        await expect(watcher.get_by_role("button", name="Sit here")).to_be_visible()


async def test_a_link_to_a_move_shows_the_record_once_the_room_is_gone(
    brief: ServerProcess, visitors: Visitors
) -> None:
    done = await finish(brief.url)
    await gone(brief.url, done.code)
    page = await visitors.visit(f"{brief.url}r/{done.code}?at=25")
    await page.locator("[data-replay=ready][data-at='25']").wait_for()
    await expect(page.get_by_text("The room has closed. You see its record.")).to_be_visible()
    assert await until(page, "() => document.querySelector('.five-towers') !== null", None)
    await page.keyboard.press("ArrowRight")
    await page.locator("[data-replay=ready][data-at='26']").wait_for()
    assert page.url == f"{brief.url}#/r/{done.code}?at=26"
    # Without a move it shows the end.
    last = len(done.record["commits"])
    guest = await Service(brief.url).guest("Ada")
    other = await visitors.visit(f"{brief.url}r/{done.code}", guest=guest)
    await other.locator(f"[data-replay=ready][data-at='{last}']").wait_for()


async def test_an_unknown_address_is_a_page_with_a_way_to_the_hall(
    shared: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("404")
    page = await visitors.visit(f"{shared.url}foo/bar", locale="de-DE")
    await expect(page.get_by_role("alert")).to_contain_text("Seite nicht gefunden")
    await page.get_by_role("link", name="Zur Halle", exact=True).click()
    await page.locator("[data-lobby=up]").wait_for()
    assert page.url == f"{shared.url}#/"
