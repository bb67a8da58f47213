"""People with a past: games that end quickly, and what the service makes of them."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, Final

from tests.end_to_end.games import QUICK
from towerhall_client.bot import random_policy
from towerhall_client.connection import connect
from towerhall_client.http import Guest, Service

PLACED_GAMES: Final = 5
"""Rated games after which a person is on the leaderboard."""


async def play(
    url: str, winner: Guest, loser: Guest, *, rated: bool = True, game: str = "five_towers"
) -> str:
    """A game of two in which the second one resigns. Returns the code of the room."""
    service = Service(url)
    made = await service.create_room(winner.token, game, seats=2, rated=rated, bot_delay_ms=0)
    async with (
        connect(url, made.code, winner.token, retry=QUICK) as first,
        connect(url, made.code, loser.token, retry=QUICK) as second,
    ):
        await first.sit(0)
        await second.sit(1)
        await second.ready()
        await first.start()
        await second.until(lambda: second.status == "playing")
        await second.resign()
        await first.until(lambda: first.status == "over")
    return made.code


async def counted(url: str, guest: Guest, games: int) -> dict[str, Any]:
    """The own profile, once that many games stand in it."""
    for _ in range(100):
        found = await Service(url).my_profile(guest.token)
        if sum(each["games"] for each in found["statistics"]) >= games:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"{games} games do not arrive: {found}")


async def play_with_bots(url: str, guest: Guest, seed: int = 1) -> None:
    """A game with two bots, to its real end."""
    made = await Service(url).create_room(guest.token, "five_towers", seats=3, bot_delay_ms=0)
    policy = random_policy(random.Random(seed))
    async with connect(url, made.code, guest.token, retry=QUICK) as table:
        await table.sit()
        for _ in range(2):
            await table.add_bot("easy")
        await table.start()
        while await table.turn():
            await table.send(policy(table.view, table.offers))


async def with_a_past(url: str, names: Sequence[str], *, games: int = PLACED_GAMES) -> list[Guest]:
    """People of whom the first has won so many rated games against each of the others."""
    service = Service(url)
    guests = [await service.guest(name) for name in names]
    first, *others = guests
    for other in others:
        for _ in range(games):
            await play(url, first, other)
    for guest, wanted in zip(guests, (games * len(others), *(games for _ in others)), strict=True):
        await counted(url, guest, wanted)
    return guests
