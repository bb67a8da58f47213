"""Dropping out in the middle of a game: the page is back by itself, nothing is lost or doubled."""

import asyncio
import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table
from tests.browser.tables import Running, set_table
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from tests.proxy.gate import Gate, Way
from towerhall_client.connection import connect
from towerhall_client.http import Service

NETWORK_TROUBLE = (r"WebSocket connection to", r"net::ERR_", r"^failed: GET .*/v1/")


def address(url: str, table: Running) -> str:
    return f"{url}#/r/{table.room.code}"


async def moves_of(url: str, table: Running, seat: int) -> list[str]:
    """What that seat has said so far, by the room's own history. What bots do for it is not."""
    looker = await Service(url).guest("Looker")
    async with connect(url, table.room.code, looker.token, retry=QUICK) as room:
        await room.entered()
        frames = await room.history(1)
    return [
        str(fact[0])
        for frame in frames
        if frame.cause[:1] == (seat,) and len(frame.cause) == 3
        for fact in frame.facts
        # Those who can only pass do so in the same commit.
        if fact[0] in ("bid_made", "passed", "built") and fact[1] == seat
    ]


async def board_of(page: Page) -> str:
    return await page.locator(".five-towers .board").inner_text()


async def test_a_reload_shows_the_same_table_and_the_game_goes_on(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=3)
    page = await visitors.visit(address(shared.url, table), guest=table.guest)
    seq = await at_table(page)
    await page.locator("[data-bid]").first.wait_for()
    before = await board_of(page)
    await page.reload()
    assert await at_table(page) == seq
    await page.locator("[data-bid]").first.wait_for()
    assert await board_of(page) == before
    await Player(page).move()
    await at_table(page, seq=seq + 1)


async def test_after_kill_9_of_the_server_the_page_is_back_by_itself(
    server: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean(*NETWORK_TROUBLE)
    table = await set_table(server.url, moves=3)
    page = await visitors.visit(address(server.url, table), guest=table.guest)
    seq = await at_table(page)
    await page.locator("[data-bid]").first.wait_for()
    before = await board_of(page)
    server.kill()
    await at_table(page, state="away")
    await expect(page.get_by_role("status").filter(has_text="Connection lost")).to_be_visible()
    await asyncio.to_thread(server.start)
    assert await at_table(page) == seq
    await expect(page.get_by_text("Connection lost").first).to_be_hidden()
    assert await board_of(page) == before
    await Player(page).move()
    await at_table(page, seq=seq + 1)


@pytest.mark.parametrize("lost", ["up", "down"])
async def test_a_move_that_the_network_swallowed_arrives_once(
    shared: ServerProcess, visitors: Visitors, lost: Way
) -> None:
    """Once the command is lost, once only the answer: the page cannot know which."""
    visitors.mean(*NETWORK_TROUBLE)
    table = await set_table(shared.url, moves=2)
    made = await moves_of(shared.url, table, 0)
    async with Gate(shared.port) as gate:
        page = await visitors.visit(address(gate.url, table), guest=table.guest)
        player = Player(page)
        seq = (await player.decision())["seq"]
        gate.silence(lost)
        await player.move()
        await page.locator(".bids[aria-busy=true]").wait_for()
        if lost == "down":
            await has_gone_on(shared.url, table)
        await page.context.set_offline(True)
        gate.shut()
        await at_table(page, state="away")
        assert await page.evaluate("document.documentElement.dataset.seq") == str(seq)
        await expect(page.get_by_text("1 move is saved here and will be sent.")).to_be_visible()
        gate.open()
        await page.context.set_offline(False)
        await at_table(page, seq=seq + 1)
        await expect(page.get_by_text("1 move is saved here and will be sent.")).to_be_hidden()
        after = await moves_of(shared.url, table, 0)
        assert after == [*made, "bid_made"]
        await player.move()


async def has_gone_on(url: str, table: Running) -> None:
    """Wait until the room has more than what the table was set with."""
    looker = await Service(url).guest("Looker")
    async with connect(url, table.room.code, looker.token, retry=QUICK) as room:
        await room.until(lambda: room.seq > table.seq)


async def test_a_network_that_is_away_for_a_while(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """Bots play on meanwhile; what was missed is shown afterwards."""
    visitors.mean(*NETWORK_TROUBLE)
    table = await set_table(shared.url, moves=2, bot_delay_ms=300)
    async with Gate(shared.port) as gate:
        page = await visitors.visit(address(gate.url, table), guest=table.guest)
        await Player(page).move()
        gate.shut()
        await at_table(page, state="away")
        await expect(page.get_by_role("button", name="Try now")).to_be_visible()
        gate.open()
        await at_table(page)
        await Player(page).move()


async def test_a_second_tab_takes_over_and_the_first_can_take_it_back(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=2)
    first = await visitors.visit(address(shared.url, table), guest=table.guest)
    await at_table(first)
    second = await first.context.new_page()
    await second.goto(address(shared.url, table))
    await at_table(second)
    await expect(first.get_by_role("alert")).to_contain_text("Opened elsewhere")
    await Player(second).move()
    await first.get_by_role("button", name="Play here instead").click()
    await at_table(first)
    await expect(second.get_by_role("alert")).to_contain_text("Opened elsewhere")
    await Player(first).move()


async def test_somebody_without_a_seat_watches(shared: ServerProcess, visitors: Visitors) -> None:
    table = await set_table(shared.url, moves=2)
    player = await visitors.visit(address(shared.url, table), guest=table.guest)
    watcher = await visitors.visit(address(shared.url, table))
    await watcher.get_by_role("button", name="Enter the room").click()
    seq = await at_table(watcher)
    await expect(watcher.get_by_text("You are watching.")).to_be_visible()
    await expect(watcher.locator("[data-bid], [data-build]")).to_have_count(0)
    await Player(player).move()
    await at_table(watcher, seq=seq + 1)
    await expect(player.get_by_text(re.compile("1 person is watching")).first).to_be_attached()
