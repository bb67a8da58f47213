"""Both games of the service in one hall: two people choose one each, and play at the same time."""

import asyncio
import re
from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import Player as CardPlayer
from tests.browser.hands import at_table
from tests.browser.nikitin.player import Player as BlockPlayer
from tests.browser.nikitin.player import heights_on
from tests.browser.tables import hurry
from tests.browser.test_game import scores_on
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

NAMES: Final = {"five_towers": "Five Towers", "nikitin_towers": "Nikitin Towers"}


async def from_the_hall(page: Page, game: str) -> str:
    """Begin that game against one bot; the address of the room after `#/r/`."""
    await page.context.route("**/v1/rooms", hurry)
    cards = page.locator(".ticket [data-game] .name")
    await expect(cards).to_have_text(list(NAMES.values()))
    await page.locator(f".ticket [data-game={game}]").click()
    await page.get_by_role("group", name="Opponents").locator("label").first.click()
    await page.get_by_role("button", name="Play now").click()
    await at_table(page)
    return page.url.partition("#/r/")[2]


@pytest.mark.timeout(240)
async def test_both_games_are_played_from_one_hall(
    shared: ServerProcess, visitors: Visitors
) -> None:
    ada, ben = [await visitors.visit(shared.url) for _ in range(2)]
    rooms = [await from_the_hall(ada, "five_towers"), await from_the_hall(ben, "nikitin_towers")]
    blocks = BlockPlayer(ben)

    async def build() -> None:
        while await blocks.by_keys():
            pass

    await asyncio.gather(CardPlayer(ada, "keys").play(), build())
    shown = [await scores_on(ada), await heights_on(ben)]
    for page, room, scores, game in zip((ada, ben), rooms, shown, NAMES, strict=True):
        record = await Service(shared.url).record(*room.split("/"))
        assert record["game"] == game
        assert scores == dict(enumerate(record["result"]["scores"]))
        # Each of them finds that game again, and no other, in the same hall.
        await page.goto(shared.url)
        mine = page.get_by_role("region", name="My games").get_by_role("link")
        await expect(mine.filter(has_text=re.compile(NAMES[game], re.I))).to_have_count(1)
        await expect(mine).to_have_count(1)
