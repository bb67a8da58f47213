"""The Python client's events, and the example bot that serves many rooms by one socket."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.raw import SECONDS
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import Table, connect
from towerhall_client.errors import ServiceError
from towerhall_client.events import hear_events
from towerhall_client.http import Service

EXAMPLE = Path(__file__).parents[2] / "clients/examples/many_rooms.py"
ROOMS = 3
MOVES = 2


@asynccontextmanager
async def running(url: str, token: str) -> AsyncIterator[None]:
    bot = await asyncio.create_subprocess_exec(sys.executable, EXAMPLE, token, url)
    try:
        yield
    finally:
        bot.kill()
        await bot.wait()


async def play(service: Service, token: str, bot: str) -> None:
    """Invite the bot to a private room, and play until it has moved."""
    room = await service.create_room(token, "five_towers", seats=2, private=True)
    async with connect(service.url, room.code, token, key=room.key) as table:
        await table.sit(0)
        await service.invite(token, room.code, bot)
        await table.until(lambda: holder(table, 1).get("ready"))
        assert holder(table, 1)["bot_account"] is True
        await table.start()
        moved = 0
        while moved < MOVES and (offers := await table.turn()):
            before = table.view
            await table.send(next(iter(offers[0].commands())))
            await table.until(lambda: table.offers or room_of(table)["status"] == "over")
            moved += table.view != before
        await table.resign()


def room_of(table: Table) -> dict[str, Any]:
    room: Any = table.view["room"]
    return dict(room)


def holder(table: Table, seat: int) -> dict[str, Any]:
    return dict(room_of(table)["seats"].get(str(seat), {}))


async def test_the_example_plays_wherever_it_is_invited(shared: ServerProcess) -> None:
    service = Service(shared.url)
    host, bot = await service.guest("Ada"), await service.guest("Many", bot_account=True)
    async with running(shared.url, bot.token), asyncio.timeout(3 * SECONDS):
        await asyncio.gather(*(play(service, host.token, bot.id) for _ in range(ROOMS)))


async def test_the_client_tells_turns_and_invitations(shared: ServerProcess) -> None:
    service = Service(shared.url)
    host, guest = await service.guest("Ada"), await service.guest("Deep", bot_account=True)
    assert (host.bot_account, guest.bot_account) == (False, True)
    room = await service.create_room(host.token, "five_towers", seats=2, bot_accounts=False)
    async with hear_events(shared.url, guest.token) as events, asyncio.timeout(SECONDS):
        assert (events.rooms, events.turns, events.invitations) == ({}, [], [])
        await service.invite(host.token, room.code, guest.id)
        await events.until(lambda: events.invitations == [room.code])
        async with (
            connect(shared.url, room.code, host.token) as ada,
            connect(shared.url, room.code, guest.token) as deep,
        ):
            await deep.sit()
            await deep.ready()
            await ada.sit()
            await ada.start()
            await events.until(lambda: events.rooms[room.code]["status"] == "playing")
            assert events.invitations == []
            while not deep.offers:
                await ada.send(next(iter((await ada.turn())[0].commands())))
                await deep.until(lambda: deep.offers or ada.offers)
            await events.until(lambda: events.turns == [room.code])
            await ada.resign()
            await events.until(lambda: events.rooms[room.code]["status"] == "over")


async def test_only_hosts_invite(shared: ServerProcess) -> None:
    service = Service(shared.url)
    host, other = await service.guest("Ada"), await service.guest("Ben")
    room = await service.create_room(host.token, "five_towers", seats=2)
    with pytest.raises(ServiceError) as refused:
        await service.invite(other.token, room.code, host.id)
    assert refused.value.code == "not_host"
