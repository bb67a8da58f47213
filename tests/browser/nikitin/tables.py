"""Tables of Nikitin Towers that a test finds set: by the Python client, quicker than any hand."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from tests.browser.tables import Finished
from tests.end_to_end.games import QUICK
from towerhall_client.bot import Policy, random_policy
from towerhall_client.connection import Table, connect
from towerhall_client.http import Guest, NewRoom, Service
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer

GAME: Final = "nikitin_towers"


class Running(msgspec.Struct, frozen=True):
    """A game in which it is somebody's turn; nobody is connected in that seat."""

    room: NewRoom
    guest: Guest
    seq: int

    def address(self, url: str) -> str:
        return f"{url}#/r/{self.room.code}"


def in_phase(*phases: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda game: game["phase"] in phases


async def set_table(
    url: str,
    *,
    until: Callable[[Mapping[str, Any]], bool],
    bots: int = 1,
    moves: int = 0,
    seed: int = 1,
    options: Mapping[str, object] | None = None,
    level: str = "easy",
    policy: Policy | None = None,
) -> Running:
    """A table with bots, played until Ada made `moves` moves and `until` holds of the game."""
    service = Service(url)
    guest = await service.guest("Ada")
    policy = policy or low_policy(random.Random(seed))
    made = await service.create_room(
        guest.token, GAME, seats=1 + bots, bot_delay_ms=0, options=options
    )
    async with connect(url, made.code, guest.token, retry=QUICK) as table:
        await table.sit()
        for _ in range(bots):
            await table.add_bot(level)
        await table.start()
        while await table.turn():
            if moves <= 0 and until(_game(table)):
                return Running(made, guest, table.seq)
            await table.send(policy(table.view, table.offers))
            moves -= 1
    raise AssertionError("the game was over before")


async def finish(url: str, *, seed: int = 1) -> Finished:
    """A game that Ada played to its end against a bot."""
    service = Service(url)
    guest = await service.guest("Ada")
    policy = low_policy(random.Random(seed))
    made = await service.create_room(guest.token, GAME, seats=2, bot_delay_ms=0)
    async with connect(url, made.code, guest.token, retry=QUICK) as table:
        await table.sit()
        await table.add_bot("easy")
        await table.start()
        while await table.turn():
            await table.send(policy(table.view, table.offers))
    return Finished(made.code, await service.record(made.code))


def _game(table: Table) -> Mapping[str, Any]:
    game = table.view["game"]
    assert isinstance(game, dict)
    return game


def low_policy(chance: random.Random) -> Policy:
    """Places blocks near the middle of the mat: such towers stand longer."""
    otherwise = random_policy(chance)

    def choose(view: Document, offers: Sequence[Offer]) -> Mapping[str, Any]:
        places: list[dict[str, Any]] = [
            dict(command)
            for offer in offers
            if offer.command == "place"
            for command in offer.commands()
        ]
        low = min(places, key=lambda each: abs(each["x"]) + abs(each["y"]), default=None)
        return low or otherwise(view, offers)

    return choose
