"""The pictures of Nikitin Towers in the README: a builder looks for a place, and a collapse."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page

from tests.browser.chromium import Visitors
from tests.browser.nikitin.player import drawn
from tests.browser.nikitin.tables import GAME, in_phase, set_table
from tests.browser.waiting import until
from tests.end_to_end.games import QUICK
from towerhall_client.bot import Policy
from towerhall_client.connection import connect
from towerhall_client.http import Service
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.game import discover

Save = Callable[[Page, Path], Any]

BLOCKS_IN_PLAY: Final = 22
BLOCKS_TO_FALL: Final = 9
FALLING_MS: Final = 420
LATER: Final = "(seq) => Number(document.documentElement.dataset.seq) > seq"
SIZE: Final = {"width": 1440, "height": 940}


def careful_policy() -> Policy:
    """A person who plays as well as the strongest bot."""
    bot = discover()[GAME].bots["hard"]

    def choose(view: Document, offers: Sequence[Offer]) -> Mapping[str, Any]:
        game = view["game"]
        assert isinstance(game, dict)
        return bot(game, tuple(offers), os.urandom(32))

    return choose


async def take_blocks(url: str, visitors: Visitors, path: Path, save: Save) -> None:
    """Ada holds a block over her tower, and all towers are in view."""

    def well_on(game: Mapping[str, Any]) -> bool:
        placed = sum(len(tower["blocks"]) for tower in game["towers"].values())
        return placed >= BLOCKS_IN_PLAY and game["phase"] == "place" and game["size"] >= 3

    table = await set_table(url, until=well_on, bots=2, level="hard", policy=careful_policy())
    page = await visitors.visit(
        table.address(url), guest=table.guest, viewport=SIZE, color_scheme="light"
    )
    await drawn(page)
    await page.keyboard.press("0")
    await drawn(page)
    await save(page, path)


async def take_collapse(url: str, visitors: Visitors, path: Path, save: Save) -> None:
    """A block is laid far out, in front of the spectator's eyes."""

    def high(game: Mapping[str, Any]) -> bool:
        blocks = game["towers"][str(game["turn"])]["blocks"]
        return len(blocks) >= BLOCKS_TO_FALL and in_phase("place")(game) and game["size"] >= 4

    table = await set_table(url, until=high, level="hard", policy=careful_policy())
    page = await visitors.visit(
        table.address(url),
        guest=await Service(url).guest("Ben"),
        viewport=SIZE,
        color_scheme="light",
        motion=True,
    )
    await drawn(page)
    await page.keyboard.press("1")
    await drawn(page)
    async with connect(url, table.room.code, table.guest.token, retry=QUICK) as ada:
        await ada.turn()
        await ada.send(far_out(ada.offers))
    await until(page, LATER, table.seq)
    await page.wait_for_timeout(FALLING_MS)
    await save(page, path)


def far_out(offers: Sequence[Offer]) -> Mapping[str, Any]:
    places = [dict(c) for offer in offers if offer.command == "place" for c in offer.commands()]
    return max(places, key=lambda each: abs(each["x"] - 1) + abs(each["y"] - 1))
