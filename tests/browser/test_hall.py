"""The hall: games of one's own, quick matches with a clock, the pace of bots, people online."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.screen import DESK, LYING, on_screen
from tests.browser.tables import room_of, set_table
from tests.end_to_end.brief import BriefProcess, gone
from tests.end_to_end.games import QUICK, play_out
from tests.end_to_end.raw import ask
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from towerhall_client.connection import connect
from towerhall_client.http import Service

PAGE = 50
"""Rooms on a page of the list."""


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with little patience, which offers sandbox rooms."""
    folder = tmp_path_factory.mktemp("brief") / "data"
    with running(folder, "--sandbox", limits=LIMITS, kind=BriefProcess) as process:
        yield process


async def test_own_games_are_at_the_top_and_finished_ones_stay_when_their_room_is_gone(
    brief: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(brief.url)
    done = await room_of(brief.url, table.guest, private=True)
    async with connect(brief.url, done.code, table.guest.token, key=done.key, retry=QUICK) as own:
        await own.sit()
        await own.add_bot("easy")
        await own.start()
        await play_out((own,), 1)
    page = await visitors.visit(brief.url, guest=table.guest)
    mine = page.get_by_role("region", name="My games")
    await expect(page.locator("main h2, main h1").first).to_have_text("My games")
    rows = mine.get_by_role("listitem")
    await expect(rows.first).to_contain_text("Your turn")
    await expect(rows.first).to_contain_text(table.room.code)
    await gone(brief.url, done.code)
    # This browser knows the key no more: it never saw the room.
    await page.evaluate(
        "([code, key]) => localStorage.setItem('towerhall.rooms', JSON.stringify({[code]: {key}}))",
        [done.code, done.key],
    )
    await page.reload()
    finished = rows.filter(has_text=done.code)
    await expect(finished).to_contain_text("Finished · Place")
    await finished.get_by_role("link").click()
    await page.locator("[data-replay=ready]").wait_for()


async def test_a_quick_match_has_a_clock_and_counts_down_until_it_offers_bots(
    shared: ServerProcess, visitors: Visitors
) -> None:
    guest = await Service(shared.url).guest("Ada")
    context = await visitors.context(shared.url, guest=guest)
    page = await context.new_page()
    await page.clock.install()
    await page.goto(shared.url)
    await page.get_by_role("radio", name="Relaxed").evaluate("(radio) => radio.click()")
    await expect(page.get_by_text("2 minutes per decision")).to_be_visible()
    await page.get_by_role("button", name="Quick match").click()
    await at_table(page, status="waiting")
    await expect(page.get_by_text("You", exact=True)).to_be_visible()
    code = page.url.rpartition("/")[2]
    room = await asyncio.to_thread(ask, shared.url, "GET", f"/v1/rooms/{code}")
    assert room.document["turn_seconds"] == 120
    offer = page.get_by_role("button", name="Play against bots")
    count = page.get_by_role("timer")
    await expect(count).to_contain_text("If seats are still free in 0:")
    await page.clock.fast_forward(20_000)
    await expect(count).to_contain_text("in 0:0")
    await expect(offer).to_have_count(0)
    await page.clock.fast_forward(10_000)
    await expect(page.get_by_text("Seats are still free.")).to_be_visible()
    await expect(count).to_have_count(0)
    await offer.click()
    await at_table(page)


async def test_a_person_who_is_away_is_counted_down_until_a_bot_may_take_over(
    brief: ServerProcess, visitors: Visitors
) -> None:
    service = Service(brief.url)
    ada, ben = await service.guest("Ada"), await service.guest("Ben")
    room = await room_of(brief.url, ada, turn_seconds=30)
    page = await visitors.visit(f"{brief.url}#/r/{room.code}", guest=ada)
    await page.get_by_role("button", name="Sit down and play").click()
    async with connect(brief.url, room.code, ben.token, retry=QUICK) as other:
        await other.sit()
        await other.ready()
        await page.get_by_role("button", name="Start the game").click()
        await at_table(page)
        await expect(page.get_by_text("A bot may take over")).to_have_count(0)
    await expect(page.get_by_text("Ben is away. A bot may take over in 0:0")).to_be_visible()
    # What is told above the table pushes nothing that a turn needs off a phone that lies.
    await page.set_viewport_size({"width": LYING["width"], "height": LYING["height"]})
    await on_screen(page, ".display", ".deed", ".mine .towers")
    await page.set_viewport_size({"width": DESK["width"], "height": DESK["height"]})
    await page.get_by_role("button", name="Let a bot play for Ben").click()
    await expect(page.get_by_text("Ben is away.")).to_have_count(0)
    await expect(page.get_by_text("A bot is playing (Medium)")).to_be_visible()


async def pace_of(page: Page, button: str) -> tuple[int, int]:
    """The pace that the page asks for with a new room."""
    async with page.expect_request("**/v1/rooms") as asked:
        await page.get_by_role("button", name=button, exact=True).click()
    body = json.loads((await asked.value).post_data or "")
    await page.wait_for_url("**/#/r/**")
    await page.locator("[data-state=up]").wait_for()
    return body["bot_delay_ms"], body["beat_ms"]


async def test_bots_are_slow_in_a_first_game_and_a_room_has_one_of_three_paces(
    shared: ServerProcess, visitors: Visitors
) -> None:
    # Others see the name in the list of rooms: it must be of no language.
    ada = await Service(shared.url).guest("Ada")
    page = await visitors.visit(shared.url, guest=ada, game=None)
    assert await pace_of(page, "Play now") == (1800, 2500)
    # With many bots a person would wait for half a minute.
    await page.goto(f"{shared.url}#/")
    opponents = page.get_by_role("group", name="Opponents")
    # The hall still moves in, so a click by place may miss.
    await opponents.get_by_role("radio", name="4").evaluate("(radio) => radio.click()")
    assert await pace_of(page, "Play now") == (600, 1200)
    await page.evaluate("""localStorage.removeItem("towerhall.opponents")""")
    await page.evaluate("""localStorage.setItem("towerhall.known", '{"five_towers": true}')""")
    await page.goto(f"{shared.url}#/")
    await page.reload()
    assert await pace_of(page, "Play now") == (600, 1200)
    await page.goto(f"{shared.url}#/")
    await page.get_by_role("button", name="Create a room").click()
    for name in ("Slow", "Normal", "Fast"):
        chosen = page.get_by_role("dialog").get_by_role("radio", name=name)
        # By key: the dialog still moves in, so a click by place may miss.
        await chosen.press("Space")
        await expect(chosen).to_be_checked()
    assert await pace_of(page, "Create the room") == (150, 0)
    await at_table(page, status="waiting")
    # The choice is kept for the next game, and the host can change it.
    await page.get_by_role("button", name="Change").click()
    await expect(page.get_by_role("radio", name="Fast")).to_be_checked()
    await page.get_by_role("radio", name="Slow").evaluate("(radio) => radio.click()")
    await page.get_by_role("button", name="Save the options").click()
    code = page.url.rpartition("/")[2]
    async with asyncio.timeout(10):
        while True:
            room = await asyncio.to_thread(ask, shared.url, "GET", f"/v1/rooms/{code}")
            if room.document.get("beat_ms") == 2500:
                break
            await asyncio.sleep(0.05)


async def test_the_hall_tells_how_many_people_are_online(
    shared: ServerProcess, visitors: Visitors
) -> None:
    first = await visitors.visit(shared.url)
    shown = first.locator("[data-online]")
    before = int(await shown.get_attribute("data-online") or "")
    second = await visitors.visit(shared.url)
    await second.locator("[data-lobby=up]").wait_for()
    await expect(shown).to_have_attribute("data-online", str(before + 1))
    await expect(shown).to_contain_text("online")


async def test_rooms_that_are_apart_are_marked_and_the_list_has_pages(
    brief: ServerProcess, visitors: Visitors
) -> None:
    ada = await Service(brief.url).guest("Ada")
    tried = await room_of(brief.url, ada, sandbox={"speed": 2})
    rated = await room_of(brief.url, ada, rated=True)
    page = await visitors.visit(brief.url, guest=ada)
    rooms = page.get_by_role("region", name="Open rooms")
    rows = rooms.get_by_role("article")
    await expect(rows.filter(has_text=tried.code)).to_contain_text("Sandbox")
    await expect(rows.filter(has_text=rated.code)).to_contain_text("Rated")
    await expect(rows.filter(has_text="Sandbox")).to_have_count(1)
    await expect(rows.filter(has_text="Rated")).to_have_count(1)
    onward = rooms.get_by_role("button", name="More rooms")
    await expect(onward).to_have_count(0)
    for _ in range(PAGE - await rows.count() + 1):
        await room_of(brief.url, ada)
    await onward.click()
    await expect(rows).to_have_count(1)
    # The button that was pressed is gone; keys go on from the title of the list.
    await expect(onward).to_have_count(0)
    await expect(rooms.get_by_role("heading", name="Open rooms")).to_be_focused()
    last = await rows.get_attribute("aria-label") or ""
    await rooms.get_by_role("button", name="First page").click()
    await expect(rows).to_have_count(PAGE)
    await expect(rooms.get_by_role("article", name=last)).to_have_count(0)
    await rooms.locator("label", has=page.get_by_role("radio", name="In progress")).click()
    await expect(rows.filter(has_text="Waiting")).to_have_count(0)


async def test_a_room_says_that_it_is_rated_or_a_sandbox_and_rated_ones_take_no_bots(
    brief: ServerProcess, visitors: Visitors
) -> None:
    ada = await Service(brief.url).guest("Ada")
    for wish, name, bots in (({"rated": True}, "Rated", 0), ({"sandbox": {}}, "Sandbox", 1)):
        room = await room_of(brief.url, ada, **wish)
        page = await visitors.visit(f"{brief.url}#/r/{room.code}", guest=ada)
        await at_table(page, status="waiting")
        await expect(page.get_by_role("banner").get_by_text(name, exact=True)).to_be_visible()
        await page.get_by_role("button", name="Sit here").first.click()
        await expect(page.locator(".advice")).to_contain_text("1 seat is still free")
        await expect(page.get_by_role("button", name="Add a bot")).to_have_count(bots)
        assert ("bot" in await page.locator(".advice").inner_text()) == bool(bots)
