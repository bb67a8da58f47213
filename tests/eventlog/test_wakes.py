"""Wake-ups: every entry is heard of while listening, and a cut is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from redis.asyncio import Redis

from tests.eventlog.engines import client
from tests.eventlog.logs import ROOM, attempt, grow, place_after
from tests.eventlog.proxy import Proxy
from towerhall_server.eventlog.batch import StoreError
from towerhall_server.eventlog.log import EventLog, Following
from towerhall_server.eventlog.wakes import Missed, Wake, Woken, listen


async def hear(wakes: AsyncIterator[Wake]) -> Wake:
    return await asyncio.wait_for(anext(wakes), timeout=10)


async def test_listening_begins_with_the_advice_to_read(redis: Redis) -> None:
    async with aclosing(listen(redis)) as wakes:
        assert await hear(wakes) == Missed()


async def test_every_entry_of_every_room_is_heard_with_all_that_the_log_holds(
    redis: Redis,
) -> None:
    log = EventLog(redis)
    async with aclosing(listen(redis)) as wakes:
        assert await hear(wakes) == Missed()
        await grow(log, 3, blob=bytes(range(256)))
        other = attempt(room="OTHERS")
        place_after(other, await log.append(other))
        heard = [await hear(wakes) for _ in range(4)]
    entries = []
    for room in (ROOM, "OTHERS"):
        reading = await log.read(room)
        assert isinstance(reading, Following)
        entries += [Woken(room, entry) for entry in reading.entries]
    assert sorted(map(repr, heard)) == sorted(map(repr, entries))


async def test_a_cut_ends_listening_and_the_next_begins_with_reading(
    engine_url: str, redis: Redis
) -> None:
    log = EventLog(redis)
    with TemporaryDirectory() as folder:
        shaky = Proxy(engine_url, Path(folder) / "s")
        async with shaky.running() as proxy, client(proxy.url) as listening:
            async with aclosing(listen(listening)) as wakes:
                assert await hear(wakes) == Missed()
                proxy.lose_share = 1.0
                (place,) = await grow(log, 1)
                with pytest.raises(StoreError):
                    await hear(wakes)
                proxy.lose_share = 0.0
            async with aclosing(listen(listening)) as wakes:
                assert await hear(wakes) == Missed()
                (place,) = await grow(log, 1, place)
                woken = await hear(wakes)
                assert isinstance(woken, Woken)
                assert woken.entry.point == place
