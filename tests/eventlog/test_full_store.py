"""A store without memory: what needs none goes on, the rest is refused as a whole."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis

from tests.eventlog.logs import DAY_MS, ROOM, appended, attempt, grow, whole
from towerhall_server.eventlog.answers import Appended, Mistimed, Removed
from towerhall_server.eventlog.entry import Stamps
from towerhall_server.eventlog.keys import room_keys, shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.errors import StoreFullError

KEYS = room_keys(ROOM)
SHARD = shard_of(ROOM)


@asynccontextmanager
async def full(redis: Redis) -> AsyncIterator[None]:
    await redis.config_set("maxmemory", 1)
    try:
        yield
    finally:
        await redis.config_set("maxmemory", 0)


async def test_the_service_clock_goes_on_and_what_is_due_goes(log: EventLog, redis: Redis) -> None:
    await grow(log, 1, due_at_ms=0)
    before = await log.beat(SHARD)
    async with full(redis):
        await redis.eval(
            "#!lua flags=allow-oom\nredis.call('HINCRBY', KEYS[1], 'last', -2000)",
            1,
            KEYS.shard.clock,
        )
        beat = await log.beat(SHARD)
        everywhere = await log.beat_all()
    assert beat.now.served_ms >= before.now.served_ms + 2000
    assert ROOM in (*before.due, *beat.due)
    assert len(everywhere) > SHARD


async def test_a_clock_that_went_back_is_moved_on(log: EventLog, redis: Redis) -> None:
    await grow(log, 1)
    ahead = (await log.beat(SHARD)).now.served_ms + DAY_MS
    async with full(redis):
        await log.advance({SHARD: ahead})
        assert (await log.beat(SHARD)).now.served_ms >= ahead


async def test_a_room_ends_and_its_record_takes_the_place_of_its_log(
    log: EventLog, redis: Redis
) -> None:
    *_, place = await grow(log, 5, summary=b"{}")
    await log.keep_secret(ROOM, b"secret", DAY_MS)
    async with full(redis):
        await log.keep_record(ROOM, b"record", DAY_MS, b"the end")
        assert await log.remove(ROOM, place, b"the same end") == Removed()
        assert await log.record(ROOM) == b"record"
        assert await redis.smembers(KEYS.shard.owed) == {b"the end", b"the same end"}
    assert not await redis.exists(KEYS.log, KEYS.secret)
    assert DAY_MS - 5000 < await redis.pttl(KEYS.record) <= DAY_MS


async def test_whoever_watches_needs_no_write(log: EventLog, redis: Redis) -> None:
    await grow(log, 2)
    await log.keep_secret(ROOM, b"secret", DAY_MS)
    async with full(redis):
        assert await log.claim(ROOM) > 0
        assert await log.said(ROOM) == ()
        assert await log.secret(ROOM) == b"secret"
        assert len(await whole(log)) == 2


async def test_an_append_is_refused_leaves_nothing_and_goes_when_there_is_space(
    log: EventLog, redis: Redis
) -> None:
    (place,) = await grow(log, 1)
    wanted = attempt(place, summary=b"{}")
    async with full(redis):
        before = await redis.keys("*")
        for _ in range(2):
            with pytest.raises(StoreFullError):
                await log.append(wanted)
        assert sorted(await redis.keys("*")) == sorted(before)
        assert len(await whole(log)) == 1
    assert (await appended(log, wanted)).seq == 2


async def test_an_append_with_old_stamps_is_refused_as_any_other_until_there_is_space(
    log: EventLog, redis: Redis
) -> None:
    (place,) = await grow(log, 1)
    late = attempt(place, stamps=Stamps(1, 1))
    async with full(redis):
        with pytest.raises(StoreFullError):
            await log.append(late)
    assert isinstance(await log.append(late), Mistimed)


async def test_a_probe_tells_whether_a_write_would_be_taken(log: EventLog, redis: Redis) -> None:
    await log.probe()
    async with full(redis):
        for _ in range(2):
            with pytest.raises(StoreFullError):
                await log.probe()
    await log.probe()
    assert await redis.dbsize() == 0


async def test_a_room_that_cannot_be_made_is_not_made_in_part(log: EventLog, redis: Redis) -> None:
    async with full(redis):
        with pytest.raises(StoreFullError):
            await log.keep_secret(ROOM, b"secret", DAY_MS)
        with pytest.raises(StoreFullError):
            await log.append(attempt())
    assert await redis.dbsize() == 0
    assert isinstance(await log.append(attempt()), Appended)
