"""Two people play a whole game through the page, one with the mouse and one with the keyboard."""

import asyncio

import pytest
from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import Player, add_bots, at_table
from tests.browser.tables import hurry
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service


async def scores_on(page: Page) -> dict[int, int]:
    """The totals of the result, by seat."""
    rows = await page.locator(".result tbody tr").evaluate_all(
        """(rows) => rows.map((row) => [
          Number(row.dataset.seat), row.querySelector("[data-part=total]").textContent])"""
    )
    return {seat: int(text.replace("−", "-")) for seat, text in rows}


@pytest.mark.timeout(180)
async def test_two_people_play_a_whole_game_beside_bots(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """The longest of all: on a machine that does much else it takes more than a minute."""
    ada = await visitors.visit(shared.url)
    await ada.context.route("**/v1/rooms", hurry)
    await ada.get_by_label("Your name").fill("Ada")
    await ada.get_by_role("button", name="Create a room").click()
    await ada.get_by_role("group", name="Seats").locator("label", has_text="4").click()
    await ada.get_by_role("button", name="Create the room").click()
    await at_table(ada, status="waiting")
    await add_bots(ada, "Easy", "Medium")

    ben = await visitors.visit(ada.url)
    await ben.get_by_label("Your name").fill("Ben")
    await ben.get_by_role("button", name="Sit down and play").wait_for()
    await ben.keyboard.press("Enter")
    await ben.get_by_role("button", name="I am ready").press("Enter")
    await ada.get_by_role("button", name="Start the game").click()

    players = Player(ada, "clicks"), Player(ben, "keys")
    await asyncio.gather(*(player.play() for player in players))
    assert min(player.moves for player in players) >= 5

    code = ada.url.rpartition("/")[2]
    record = await Service(shared.url).record(code)
    scores = dict(enumerate(record["result"]["scores"]))
    for page in (ada, ben):
        await expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
        assert await scores_on(page) == scores
