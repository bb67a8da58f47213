"""The service clock, the rooms that are due, and the end of rooms."""

import asyncio
from time import time

from redis.asyncio import Redis

from tests.eventlog.logs import ROOM, attempt, grow, place_after
from towerhall_server.eventlog.answers import (
    Appended,
    Conflict,
    Gone,
    Mistimed,
    Removed,
)
from towerhall_server.eventlog.entry import Point, Stamps
from towerhall_server.eventlog.keys import SHARDS, room_keys, shard_keys, shard_of
from towerhall_server.eventlog.log import EventLog

SHARD = shard_of(ROOM)
KEYS = room_keys(ROOM)
CLOCK = KEYS.shard.clock


async def pretend(redis: Redis, ms: int) -> None:
    """Make the last beat so many ms older."""
    last = await redis.hget(CLOCK, "last")
    assert last is not None
    await redis.hset(CLOCK, "last", str(int(last) - ms))


async def test_the_clock_starts_at_zero_and_counts_beats(log: EventLog, redis: Redis) -> None:
    assert (await log.beat(SHARD)).now.served_ms == 0
    await pretend(redis, 1000)
    assert 1000 <= (await log.beat(SHARD)).now.served_ms < 2000


async def test_between_beats_the_clock_is_told_but_not_moved(log: EventLog, redis: Redis) -> None:
    await log.beat(SHARD)
    await pretend(redis, 500)
    held = await redis.hgetall(CLOCK)
    assert 500 <= (await log.beat(SHARD)).now.served_ms < 900
    assert await redis.hgetall(CLOCK) == held


async def test_time_in_which_nobody_served_is_not_charged(log: EventLog, redis: Redis) -> None:
    await log.beat(SHARD)
    await pretend(redis, 3_600_000)
    assert (await log.beat(SHARD)).now.served_ms == 5000


async def test_a_clock_of_the_store_that_jumps_back_does_no_harm(
    log: EventLog, redis: Redis
) -> None:
    await log.beat(SHARD)
    await pretend(redis, -3_600_000)
    assert (await log.beat(SHARD)).now.served_ms == 0
    await pretend(redis, 1000)
    assert (await log.beat(SHARD)).now.served_ms >= 1000


async def test_commits_are_held_to_the_same_clock(log: EventLog, redis: Redis) -> None:
    await log.beat(SHARD)
    await pretend(redis, 2000)
    wall_ms = round(1000 * time())
    answer = await log.append(attempt(stamps=Stamps(wall_ms, 10_000)))
    assert isinstance(answer, Mistimed)
    assert 2000 <= answer.now.served_ms < 5000
    await pretend(redis, 3_600_000)
    answer = await log.append(attempt(stamps=Stamps(wall_ms, 10_000)))
    assert isinstance(answer, Mistimed)
    assert answer.now.served_ms == 5000
    assert await log.append(attempt(stamps=answer.now)) == Appended(1)


async def test_a_due_room_is_given_out_once_and_again_if_nobody_acts(
    log: EventLog, redis: Redis
) -> None:
    await log.beat(SHARD)
    await grow(log, 1, due_at_ms=0)
    await pretend(redis, 1000)
    assert (await log.beat(SHARD)).due == (ROOM,)
    await pretend(redis, 1000)
    assert (await log.beat(SHARD)).due == ()
    await pretend(redis, 5000)
    assert (await log.beat(SHARD)).due == (ROOM,)


async def test_of_two_nodes_that_beat_one_gets_the_room(
    log: EventLog, redis: Redis, engine_url: str
) -> None:
    await log.beat(SHARD)
    await grow(log, 1, due_at_ms=0)
    await pretend(redis, 1000)
    async with EventLog(engine_url) as other:
        beats = await asyncio.gather(log.beat(SHARD), other.beat(SHARD))
    assert sorted(beat.due for beat in beats) == [(), (ROOM,)]


async def test_at_most_64_rooms_are_given_out_at_once(log: EventLog, redis: Redis) -> None:
    await log.beat(SHARD)
    await redis.zadd(KEYS.shard.due, {f"ROOM{number}": 0 for number in range(100)})
    seen: set[str] = set()
    for expected in (64, 36, 0):
        await pretend(redis, 1000)
        due = (await log.beat(SHARD)).due
        assert len(due) == expected
        seen |= set(due)
    assert len(seen) == 100


async def test_a_room_ends_with_all_that_belongs_to_it(log: EventLog, redis: Redis) -> None:
    place = (await grow(log, 3, due_at_ms=0, summary=b"shown"))[-1]
    wanted = attempt(place, due_at_ms=0, summary=b"shown")
    place = place_after(wanted, await log.append(wanted))
    await redis.set(KEYS.secret, b"secret")
    await redis.xadd(KEYS.chat, {"text": "hello"})
    assert await log.keep_snapshot(ROOM, place, b"snapshot") == 1
    assert await log.remove(ROOM, place) == Removed()
    assert await redis.keys("*") == [KEYS.ended.encode()]
    assert await log.remove(ROOM, place) == Gone()


async def test_a_room_in_which_something_happened_meanwhile_does_not_end(
    log: EventLog, redis: Redis
) -> None:
    places = await grow(log, 2)
    assert await log.remove(ROOM, places[0]) == Conflict(2, places[1].chain)
    forked = Point(2, bytes(32), places[1].stamps)
    assert await log.remove(ROOM, forked) == Conflict(2, places[1].chain)
    assert await redis.exists(KEYS.log)


def test_all_keys_of_a_room_are_in_one_slot() -> None:
    for room in ("ABCDEF", "QWERTY", "ZZZZZZ"):
        keys = room_keys(room)
        tag = f"{{s{shard_of(room)}}}"
        shard = keys.shard
        for key in (
            keys.log,
            keys.cmd,
            keys.chat,
            keys.secret,
            keys.snapshots,
            shard.clock,
            shard.due,
            shard.lobby,
        ):
            assert key.count("{") == 1
            assert tag in key
        assert shard == shard_keys(shard_of(room))


def test_where_a_room_lives_is_pinned_for_ever() -> None:
    assert [shard_of(room) for room in ("ABCDEF", "QWERTY", "ZZZZZZ")] == [169, 37, 4]
    assert len({shard_of(f"ROOM{number}") for number in range(5000)}) == SHARDS
