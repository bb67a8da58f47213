"""The log, the chat and the live region: what players read and hear of a game."""

import random
import re
from functools import partial

import pytest
from playwright.async_api import Page, expect

from tests.browser.catalogues import LANGUAGES, catalogue
from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table
from tests.browser.listening import HEARD, heard
from tests.browser.tables import is_building, set_table
from tests.browser.waiting import until
from tests.end_to_end.games import QUICK, seated
from tests.end_to_end.servers import ServerProcess
from towerhall_client.bot import random_policy
from towerhall_client.connection import Table, connect
from towerhall_client.http import Guest, Service


async def listener(visitors: Visitors, url: str, guest: Guest) -> Page:
    context = await visitors.context(url, guest=guest)
    await context.add_init_script(HEARD)
    page = await context.new_page()
    await page.goto(url)
    return page


def has_seen(table: Table, seq: int) -> bool:
    return table.seq >= seq


async def test_people_who_listen_are_told_each_move_once_and_in_order(
    shared: ServerProcess, visitors: Visitors
) -> None:
    service = Service(shared.url)
    async with seated(service, 2) as (made, tables):
        await tables[0].start()
        url = f"{shared.url}#/r/{made.code}"
        page = await listener(visitors, url, await service.guest("Watcher"))
        await page.locator(".five-towers").wait_for()
        await expect(page.get_by_role("log", name="Log")).to_contain_text("Round 1")
        assert await heard(page) == []
        policy = random_policy(random.Random(4))
        told: list[list[str]] = []
        while len(told) < 12:
            for number, table in enumerate(tables):
                if not table.offers:
                    continue
                command = policy(table.view, table.offers)
                await table.send(command)
                seq = table.seq
                for other in tables:
                    await other.until(partial(has_seen, other, seq))
                await at_table(page, seq=seq)
                told.append(await heard(page))
                kinds = {"bid": "bid|win|could", "pass": "pass|win|No", "build": "take"}
                if str(command["command"]) == "build":
                    assert f"player {number} takes" in told[-1][0]
                assert re.search(kinds[str(command["command"])], told[-1][0])
                break
        # One sentence of one move, never two.
        assert [len(each) for each in told] == [1] * len(told)


async def test_oneself_is_you_for_eyes_and_ears(shared: ServerProcess, visitors: Visitors) -> None:
    table = await set_table(shared.url)
    url = f"{shared.url}#/r/{table.room.code}"
    page = await listener(visitors, url, table.guest)
    await at_table(page)
    await Player(page).play(6)
    log = page.get_by_role("log", name="Log")
    await expect(log).to_contain_text(re.compile("You (bid|pass|take|have to pass)"))
    await expect(log).to_contain_text("You sit down.")
    await page.get_by_role("tab", name="Chat").click()
    await page.get_by_role("textbox", name="Message").fill("Hello")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Hello!").click()
    await expect(page.locator(".bubble .who")).to_contain_text("You")
    await expect(page.locator(".emotes[role=status]")).to_contain_text("You Hello!")
    # In a replay of one's own game as well: the lines of the board are about oneself, too.
    await page.evaluate("(seq) => { location.hash += `?at=${seq}` }", table.seq)
    await page.locator("[data-replay=ready] .five-towers").wait_for()
    await expect(page.locator(".five-towers .hint")).to_have_text("It is your turn to bid.")
    told = await heard(page)
    assert any(text.startswith("You ") for text in told)
    assert not [text for text in told if "Ada" in text]
    assert "Ada" not in await page.locator("main").inner_text()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_log_says_you_in_the_language(
    shared: ServerProcess, visitors: Visitors, language: str
) -> None:
    table = await set_table(shared.url)
    url = f"{shared.url}#/r/{table.room.code}"
    page = await visitors.visit(url, guest=table.guest, settings={"language": language})
    await at_table(page)
    words = catalogue(language)
    log = page.get_by_role("log", name=words["play.log"][0])
    await expect(log).to_contain_text(words["log.person_sat.you"][0])
    await Player(page).move()
    bid = re.escape(words["five_towers.log.bid_made.you"][0]).replace(r"\{n\}", r"\d")
    await expect(log).to_contain_text(re.compile(bid))
    await expect(log).not_to_contain_text("Ada")


async def test_only_unread_lines_of_the_chat_are_counted(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url)
    url = f"{shared.url}#/r/{table.room.code}"
    page = await visitors.visit(url, guest=table.guest)
    await at_table(page)
    badge = page.get_by_role("tab", name="Chat").locator(".badge")
    ben = await Service(shared.url).guest("Ben")
    async with connect(shared.url, table.room.code, ben.token, retry=QUICK) as watcher:
        await watcher.chat("one")
        await watcher.chat("two")
        await expect(badge).to_have_text("2")
        await page.get_by_role("tab", name="Chat").click()
        await expect(badge).to_have_count(0)
        await page.get_by_role("tab", name="Log").click()
        await page.reload()
        await at_table(page)
        # The old lines come again, and were read before.
        await watcher.chat("three")
        await expect(badge).to_have_text("1")
        await page.reload()
        await expect(badge).to_have_text("1")


async def test_a_build_in_the_making_survives_a_reload_until_it_is_made(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=6, until=is_building)
    url = f"{shared.url}#/r/{table.room.code}"
    page = await visitors.visit(url, guest=table.guest)
    await at_table(page)
    await page.locator("[data-fit=now]").first.click()
    planned = page.locator(".mine .ghost")
    await expect(planned).to_have_count(1)
    place = await planned.get_attribute("data-place")
    # A look at the past does not end it either.
    await page.evaluate("(seq) => { location.hash += `?at=${seq}` }", table.seq - 1)
    await page.locator("[data-replay=ready] .five-towers").wait_for()
    await page.get_by_role("button", name="Back to the game").click()
    await expect(planned).to_have_attribute("data-place", place or "")
    await page.reload()
    await expect(planned).to_have_attribute("data-place", place or "")
    # On another device the move is made meanwhile: nothing is left of the plan.
    async with connect(shared.url, table.room.code, table.guest.token, retry=QUICK) as elsewhere:
        await elsewhere.turn()
        policy = random_policy(random.Random(2))
        await elsewhere.send(policy(elsewhere.view, elsewhere.offers))
        await elsewhere.until(lambda: elsewhere.seq > table.seq)
    await page.goto(f"{shared.url}#/")
    await page.locator("[data-lobby=up]").wait_for()
    await page.goto(url)
    # The bots may have ended the game meanwhile.
    await until(page, "(seq) => Number(document.documentElement.dataset.seq) >= seq", table.seq + 1)
    await expect(planned).to_have_count(0)
