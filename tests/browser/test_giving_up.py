"""The end of a game before its time: by resignation, and without a result; and who is replaced."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import at_table, dismiss
from tests.browser.tables import room_of
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import Table, connect
from towerhall_client.http import Guest, NewRoom, Service

DRAWN = "GL Driver Message"
"""What a browser says of a board that is drawn in software."""
HINT = {"five_towers": ".five-towers .hint", "nikitin_towers": ".nikitin .hint"}


@asynccontextmanager
async def two_at_table(url: str, game: str) -> AsyncIterator[tuple[NewRoom, Guest, Table]]:
    """Ada and Björn have begun a game. The page is Ada's, and the table is Björn's."""
    service = Service(url)
    ada, bjorn = await service.guest("Ada"), await service.guest("Björn")
    made = await room_of(url, ada, game)
    async with (
        connect(url, made.code, bjorn.token, retry=QUICK) as table,
        connect(url, made.code, ada.token, retry=QUICK) as host,
    ):
        await host.sit(0)
        await table.sit(1)
        await table.ready()
        await host.start()
        await table.until(lambda: table.status == "playing")
        yield made, ada, table


async def menu(page: Page, button: str) -> None:
    await page.keyboard.press("m")
    await page.get_by_role("dialog").get_by_role("button", name=button).click()


@pytest.mark.parametrize("game", sorted(HINT))
async def test_an_end_without_a_result_is_asked_for_and_then_told_at_the_table(
    shared: ServerProcess, visitors: Visitors, game: str
) -> None:
    visitors.mean(DRAWN)
    async with two_at_table(shared.url, game) as (made, ada, table):
        page = await visitors.visit(f"{shared.url}#/r/{made.code}", guest=ada)
        await at_table(page)
        # A bot is offered for a person who is away, and not for one who is here.
        await page.get_by_role("region", name="Players").get_by_role("button", name="Björn").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("connected")
        replace = dialog.get_by_role("button", name="Let a bot play for Björn")
        await expect(replace).to_have_count(0)
        await dismiss(page)

        await menu(page, "End without a result")
        await expect(dialog).to_contain_text("End this game without a result?")
        await dialog.get_by_role("button", name="Cancel").click()
        await expect(dialog).to_have_count(0)
        await menu(page, "End without a result")
        await dialog.get_by_role("button", name="End without a result").click()
        await expect(page.get_by_text("You would like to end the game").first).to_be_visible()
        await table.want_end()
        await at_table(page, status="over")
        await expect(page.locator(HINT[game])).to_have_text("The game has ended without a result.")
        over = page.get_by_role("region", name="The game is over")
        await expect(over).to_contain_text("The players agreed to end the game without a result.")


@pytest.mark.parametrize("game", sorted(HINT))
async def test_resigning_from_a_game_of_two_ends_it_and_the_other_player_wins(
    shared: ServerProcess, visitors: Visitors, game: str
) -> None:
    visitors.mean(DRAWN)
    async with two_at_table(shared.url, game) as (made, ada, table):
        page = await visitors.visit(f"{shared.url}#/r/{made.code}", guest=ada)
        await at_table(page)
        await menu(page, "Resign")
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("The game ends at once, and you lose it.")
        await dialog.get_by_role("button", name="Resign").click()
        await at_table(page, status="over")
        over = page.get_by_role("region", name="The game is over")
        await expect(over).to_contain_text("Won by resignation: Björn")
        await expect(over.get_by_role("listitem").first).to_contain_text("Björn")
        # The result says all: the board has nothing more to do.
        await expect(page.locator(HINT[game])).to_have_count(0)
        assert table.view["room"]["result"]["places"] == [2, 1]  # type: ignore[index]


async def test_a_bot_is_offered_once_the_person_has_gone(
    shared: ServerProcess, visitors: Visitors
) -> None:
    async with two_at_table(shared.url, "five_towers") as (made, ada, _):
        page = await visitors.visit(f"{shared.url}#/r/{made.code}", guest=ada)
        await at_table(page)
    await page.get_by_role("region", name="Players").get_by_role("button", name="Björn").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("not connected")
    await expect(dialog.get_by_role("button", name="Let a bot play for Björn")).to_be_visible()
