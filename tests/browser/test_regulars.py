"""People who come back: a rated game, and all that the page shows of its people after it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from redis.asyncio import Redis

from tests.browser.axe import violations
from tests.browser.chromium import Visitors
from tests.browser.hands import at_table, dismiss
from tests.browser.people import PLACED_GAMES, with_a_past
from tests.browser.test_people import write
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.regulars.test_routes import everything
from towerhall_client.http import Guest, Service
from towerhall_server.access.audit import TAG
from towerhall_server.access.revocations import AFTER, NEWS
from towerhall_server.eventlog.keys import MEMORY
from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.keys import JOURNAL, PLACE, person_keys
from towerhall_server.regulars.reports import Reports
from towerhall_server.store.data_folder import socket_of_engine

NAME = "Adalbertine"
ASKED = {"TOWERHALL_LIMIT_QUESTIONS_PER_IDENTITY": "1000/s burst 1000"}


@pytest.fixture
def regular(tmp_path: Path) -> Iterator[tuple[ServerProcess, str]]:
    """A server of one's own, and the address of its store."""
    data = tmp_path / "data"
    with running(data, limits=LIMITS | ASKED) as process:
        yield process, f"unix://{socket_of_engine(data)}"


async def fine(page: Page) -> None:
    """Axe finds nothing, in light and in dark colours, and nothing is wider than the screen."""
    assert await violations(page) == []
    await page.emulate_media(color_scheme="dark")
    assert await violations(page, colours=True) == []
    await page.emulate_media(color_scheme="light")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def resign(page: Page) -> None:
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    await page.get_by_role("dialog").get_by_role("button", name="Resign").click()


async def go(page: Page, hash_: str) -> None:
    await page.evaluate("(hash) => { location.hash = hash }", hash_)


async def play_rated(url: str, visitors: Visitors, guests: list[Guest]) -> tuple[str, list[Page]]:
    """A rated game of three, on two desks and a phone, until two of them have resigned."""
    hers = await visitors.visit(url, guest=guests[0])
    await hers.get_by_role("button", name="Create a room").click()
    form = hers.get_by_role("dialog")
    bots = form.get_by_role("switch", name="Bot accounts may join")
    await expect(bots).to_have_count(1)
    await form.get_by_text("Rated game", exact=True).click()
    await expect(bots).to_have_count(0)
    await form.get_by_role("button", name="Create the room").click()
    await at_table(hers, status="waiting")
    code = (await hers.evaluate("location.hash")).removeprefix("#/r/")
    pages = [hers]
    for guest, phone in zip(guests[1:], (False, True), strict=True):
        page = await visitors.visit(f"{url}#/r/{code}", guest=guest, phone=phone)
        await page.get_by_role("button", name="Sit down and play").click()
        await page.get_by_role("button", name="I am ready").click()
        pages.append(page)
    await hers.get_by_role("button", name="Start").click()
    for page in pages:
        await at_table(page)
    await write(pages[1], "rude words")
    await expect(hers.get_by_role("tab", name="Chat")).to_contain_text("1")
    for page in pages[1:]:
        await resign(page)
    for page in pages:
        await at_table(page, status="over")
    return code, pages


async def test_a_rated_game_and_what_becomes_of_its_people(
    regular: tuple[ServerProcess, str], visitors: Visitors
) -> None:
    server, store = regular
    url = server.url
    ada, ben = await with_a_past(url, (NAME, "Ben"), games=PLACED_GAMES - 1)
    cyd = await Service(url).guest("Cyd")
    code, (hers, his, phone) = await play_rated(url, visitors, [ada, ben, cyd])

    # Each sees what the game has changed.
    await expect(hers.get_by_text("Rating:")).to_contain_text("(+")
    await expect(phone.get_by_text("Rating:")).to_contain_text("(")
    assert await violations(hers) == []

    # A report with a line of chat, and a block, from the seat of a person.
    await hers.get_by_role("tab", name="Chat").click()
    said = hers.get_by_role("log").get_by_text("rude words")
    await expect(said).to_be_visible()
    await hers.locator(".over").get_by_role("button", name="Ben").click()
    await hers.get_by_role("dialog").get_by_role("button", name="Report").click()
    await hers.get_by_label("Insults or spam in the chat").check()
    await hers.get_by_label("rude words").check()
    assert await violations(hers) == []
    await hers.get_by_role("button", name="Send the report").click()
    await expect(hers.get_by_text("The report has been sent.")).to_be_visible()
    async with EventLog(store) as log:
        (report,) = await Reports(log).page("")
    assert (report.person, [line.text for line in report.lines]) == (ben.id, ["rude words"])
    await hers.locator(".over").get_by_role("button", name="Ben").click()
    await hers.get_by_role("dialog").get_by_role("button", name="Block").click()
    sure = hers.get_by_role("dialog", name="Block Ben?")
    await sure.get_by_role("button", name="Block").click()
    await expect(said).to_have_count(0)
    await dismiss(hers)
    await hers.reload()
    await at_table(hers, status="over")
    await hers.get_by_role("tab", name="Chat").click()
    await expect(hers.get_by_text("No messages yet.")).to_be_visible()

    # From the table to a profile, on a phone.
    await phone.locator(".over").get_by_role("button", name=NAME).tap()
    await phone.get_by_role("dialog").get_by_role("button", name="Profile").tap()
    await phone.get_by_role("dialog").get_by_role("link", name="Profile").tap()
    await expect(phone.get_by_role("heading", name=NAME)).to_be_visible()
    await expect(phone.locator("[data-games='5']")).to_be_visible()
    chart = phone.get_by_role("img", name="Five Towers with 3 players: place 1 once")
    await expect(chart).to_be_visible()
    await fine(phone)
    await phone.get_by_role("button", name="Add as a friend").tap()
    await expect(phone.get_by_role("button", name="Take the request back")).to_be_visible()

    # Friends, and an end of the block.
    await go(hers, "#/friends")
    await hers.get_by_role("button", name="Accept").click()
    await expect(hers.get_by_role("article", name="Cyd")).to_be_visible()
    await expect(hers.get_by_role("button", name="Accept")).to_have_count(0)
    await fine(hers)
    blocked = hers.get_by_role("region", name="Blocked people")
    await blocked.get_by_role("button", name="Unblock").click()
    await expect(blocked).to_have_count(0)

    # The leaderboard, and from there to a person.
    await hers.get_by_role("link", name="Leaderboards").click()
    own = hers.get_by_role("row").filter(has_text="you")
    await expect(own).to_contain_text(NAME)
    await expect(hers.get_by_role("row")).to_have_count(3)
    await fine(hers)
    await hers.get_by_role("link", name="Ben").click()
    await expect(hers.get_by_role("heading", name="Ben")).to_be_visible()

    # One's own page: filters, a replay, an export, and the end of it all.
    await hers.get_by_role("link", name="Profile", exact=True).click()
    await expect(hers.get_by_role("heading", name=NAME)).to_be_visible()
    await expect(hers.locator("[data-games='5']")).to_be_visible()
    await fine(hers)
    await hers.get_by_role("radio", name="3 players").check(force=True)
    await expect(hers.locator("[data-games='1']")).to_contain_text("Cyd")
    replay = hers.get_by_role("link", name=f"Watch the replay of room {code}")
    assert await replay.get_attribute("href") == f"#/r/{code}?at=1"
    async with hers.expect_download() as download:
        await hers.get_by_role("button", name="Export my data").click()
    kept = json.loads((await (await download.value).path()).read_text())
    assert (kept["id"], len(kept["games"])) == (ada.id, 5)
    await erase(hers)
    handle = kept["handle"]
    await expect(hers.get_by_role("button", name="Play now")).to_be_visible()
    await hers.get_by_role("link", name="My profile").click()
    await expect(hers.get_by_text("Nothing is kept about you yet.")).to_be_visible()
    await expect(hers.get_by_text(NAME)).to_have_count(0)
    await phone.reload()
    visitors.mean("404")
    await expect(phone.get_by_text("There is no such profile")).to_be_visible()
    await go(his, "#/me")
    await expect(his.locator("[data-games='5']")).to_contain_text("Hidden person")
    await nothing_is_left(store, (ada.id, handle, NAME), handle)


async def erase(page: Page) -> None:
    await page.get_by_role("button", name="Erase my data").click()
    dialog = page.get_by_role("dialog")
    assert await violations(page) == []
    sure = dialog.get_by_role("button", name="Erase everything")
    await expect(sure).to_be_disabled()
    await dialog.get_by_role("textbox").fill(NAME.lower())
    await sure.click()
    await expect(page.get_by_text("Your data has been erased.")).to_be_visible()


async def nothing_is_left(store: str, texts: tuple[str, ...], handle: str) -> None:
    """In the whole store; `docs/operate.md` lists what signatures and safety need."""
    allowed = {JOURNAL, PLACE, person_keys(handle).sums, AFTER, NEWS, MEMORY, f"{TAG}:of:people"}
    signed = (":log:", ":record:", ":lobby", ":snap:")
    async with Redis.from_url(store) as redis:
        kept = await everything(redis)
    assert JOURNAL in kept
    left = [key for key, value in kept.items() if any(text in key + value for text in texts)]
    assert not [key for key in left if key not in allowed and not any(s in key for s in signed)]


async def test_who_has_no_past_is_told_what_to_do(
    shared: ServerProcess, visitors: Visitors
) -> None:
    guest = await Service(shared.url).guest("Newcomer")
    page = await visitors.visit(f"{shared.url}#/me", guest=guest)
    await expect(page.get_by_role("link", name="Play a game")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_text("Hide my profile").click()
    await expect(page.get_by_text("Your profile is hidden.")).to_be_visible()
    await go(page, "#/friends")
    await expect(page.get_by_text("No friends yet.")).to_be_visible()
    await page.get_by_role("link", name="Leaderboards").click()
    await page.get_by_role("radio", name="Nikitin Towers").check(force=True)
    await expect(page.get_by_text("5 rated games of Nikitin Towers")).to_be_visible()
    assert await violations(page) == []
