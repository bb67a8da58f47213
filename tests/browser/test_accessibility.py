"""axe-core with its default rules finds nothing, on every screen, in light and in dark colours."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import pytest
from playwright.async_api import Page

from tests.browser.axe import violations
from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.tables import (
    Finished,
    drop_record,
    is_building,
    room_of,
    set_table,
)
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

Screen: TypeAlias = Callable[[str, Visitors, Finished, bool], Awaitable[Page]]


async def lobby(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    await set_table(url)
    await room_of(url, await Service(url).guest("Host"))
    page = await visitors.visit(url, phone=phone)
    await page.locator("[data-lobby=up] article").first.wait_for()
    return page


async def creating(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    page = await visitors.visit(url, phone=phone)
    await page.get_by_role("button", name="Create a room").click()
    await page.locator("dialog summary").click()
    return page


async def settings(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    page = await visitors.visit(url, phone=phone)
    await page.get_by_role("button", name="Settings").click()
    await page.locator("dialog[open]").wait_for()
    return page


async def keys(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    page = await visitors.visit(url, phone=phone)
    await page.keyboard.press("?")
    await page.locator("dialog h4").first.wait_for()
    assert await violations(page) == []
    await page.get_by_role("tab", name="Keys").click()
    await page.locator("dialog kbd").first.wait_for()
    return page


async def rules(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    page = await visitors.visit(f"{url}#/rules/five_towers", phone=phone)
    await page.locator("article h2").first.wait_for()
    return page


async def waiting(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    host = await Service(url).guest("Ada")
    made = await room_of(url, host, seats=3)
    page = await visitors.visit(f"{url}#/r/{made.code}", guest=host, phone=phone)
    await at_table(page, status="waiting")
    await page.get_by_role("button", name="Sit here").first.click()
    await page.get_by_role("button", name="Stand up").wait_for()
    return page


async def invitation(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    page = await waiting(url, visitors, finished, phone)
    await page.get_by_role("button", name="Invite people").click()
    await page.get_by_role("img", name="QR code for the link").wait_for()
    return page


async def building(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    table = await set_table(url, moves=6, until=is_building)
    page = await visitors.visit(f"{url}#/r/{table.room.code}", guest=table.guest, phone=phone)
    await page.locator("[data-fit=now]").first.click()
    await page.locator(".ghost").wait_for()
    return page


async def bidding(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    """With four players, and the chat open where there is room for it."""
    table = await set_table(url, moves=4, bots=("easy", "hard", "easy"))
    page = await visitors.visit(f"{url}#/r/{table.room.code}", guest=table.guest, phone=phone)
    await page.locator("[data-bid]").first.wait_for()
    await page.keyboard.press("c")
    await page.get_by_role("textbox", name="Message").fill("Hello!")
    await page.keyboard.press("Enter")
    await page.locator(".bubble").wait_for()
    return page


async def result(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    guest = await Service(url).guest("Looker")
    page = await visitors.visit(f"{url}#/r/{finished.code}", guest=guest, phone=phone)
    await page.locator(".result table").wait_for()
    return page


async def replay(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    page = await visitors.visit(f"{url}#/r/{finished.code}?at=40", phone=phone)
    await page.locator("[data-replay=ready] .five-towers").wait_for()
    return page


async def record(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    page = await visitors.visit(f"{url}#/record", phone=phone)
    await drop_record(page, finished.record)
    await page.locator("[data-proof=good]").wait_for()
    return page


async def nowhere(url: str, visitors: Visitors, finished: Finished, phone: bool) -> Page:
    page = await visitors.visit(f"{url}#/nowhere", phone=phone)
    await page.get_by_role("alert").wait_for()
    return page


SCREENS: tuple[Screen, ...] = (
    lobby,
    creating,
    settings,
    keys,
    rules,
    waiting,
    invitation,
    bidding,
    building,
    result,
    replay,
    record,
    nowhere,
)
ON_PHONES = (lobby, waiting, bidding, building, result, replay)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


async def found_on(page: Page) -> dict[str, list[str]]:
    """In one theme everything, in the other one what differs: the colours."""
    found: dict[str, list[str]] = {}
    for theme in THEMES:
        await page.emulate_media(color_scheme=theme)
        await page.locator(f":root[data-theme={theme}]").wait_for()
        found[theme] = await violations(page, colours=theme != THEMES[0])
    return found


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
async def test_axe_finds_nothing(
    shared: ServerProcess, visitors: Visitors, finished: Finished, screen: Screen
) -> None:
    page = await screen(shared.url, visitors, finished, False)
    assert await found_on(page) == {"light": [], "dark": []}


@pytest.mark.parametrize("screen", ON_PHONES, ids=lambda screen: screen.__name__)
async def test_axe_finds_nothing_on_a_phone(
    shared: ServerProcess, visitors: Visitors, finished: Finished, screen: Screen
) -> None:
    page = await screen(shared.url, visitors, finished, True)
    assert await found_on(page) == {"light": [], "dark": []}


async def test_axe_sees_what_is_wrong(shared: ServerProcess, visitors: Visitors) -> None:
    """Otherwise the tests above would say nothing."""
    page = await visitors.visit(shared.url)
    await page.evaluate(
        """() => {
          const main = document.querySelector("main");
          main.append(document.createElement("button"));
          main.append("pale");
          main.style.color = main.style.backgroundColor = "#808080";
        }"""
    )
    for colours, seen in ((False, {"button-name", "color-contrast"}), (True, {"color-contrast"})):
        found = {each.partition(":")[0] for each in await violations(page, colours=colours)}
        assert found & {"button-name", "color-contrast"} == seen
