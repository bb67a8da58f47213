"""Stamps of an entry: a node proposes them, the store checks them, and the chain covers them.

A repeated request carries the same stamps, so an entry that is lost and repeated is the same entry.
"""

import asyncio

import msgspec
import pytest
from redis.asyncio import Redis

from tests.eventlog.logs import ROOM, attempt, copy_of, go_back, grow, place_after, whole
from towerhall_server.eventlog.answers import (
    Appended,
    Conflict,
    Early,
    Following,
    Mistimed,
)
from towerhall_server.eventlog.entry import Stamps, entry_after
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.shared import MOST_APART_MS, MOST_BEHIND_MS

HOUR_MS = 3_600_000


def later(stamps: Stamps, wall_ms: int, served_ms: int) -> Stamps:
    return Stamps(stamps.wall_ms + wall_ms, stamps.served_ms + served_ms)


async def test_a_repeated_append_is_the_same_entry(log: EventLog, redis: Redis) -> None:
    place = (await grow(log, 3))[-1]
    wanted = attempt(place, stamps=later(place.stamps, 5, 5))
    older = await copy_of(redis)
    assert await log.append(wanted) == Appended(4)
    await go_back(redis, older)
    await asyncio.sleep(0.01)
    assert await log.append(wanted) == Appended(4)
    assert await log.entry(ROOM, 4) == wanted.entry
    await grow(log, 1, wanted.entry.point)
    assert isinstance(await log.read(ROOM), Following)


@pytest.mark.parametrize("field", ["wall_ms", "served_ms"])
async def test_the_same_commit_at_another_time_is_another_past(log: EventLog, field: str) -> None:
    before, place = await grow(log, 2)
    entry = await log.entry(ROOM, 2)
    assert entry is not None
    other = msgspec.structs.replace(place.stamps, **{field: getattr(place.stamps, field) + 1})
    wrong = entry_after(before, other, entry.commit_id, entry.blob).point
    assert await log.append(attempt(wrong)) == Conflict(2, place.chain)


async def test_proposed_stamps_are_those_of_the_entry(log: EventLog) -> None:
    place = (await grow(log, 1))[-1]
    wanted = attempt(place, stamps=later(place.stamps, 30, 40))
    assert await log.append(wanted) == Appended(2)
    entry = await log.entry(ROOM, 2)
    assert entry is not None
    assert entry.stamps == later(place.stamps, 30, 40)


@pytest.mark.parametrize(
    ("wall_ms", "served_ms"),
    [
        pytest.param(-1, 0, id="the wall clock runs back"),
        pytest.param(0, -1, id="the service clock runs back"),
        pytest.param(HOUR_MS, 0, id="the wall clock is ahead"),
        pytest.param(0, HOUR_MS, id="the service clock is ahead"),
    ],
)
async def test_stamps_that_no_clock_shows_are_refused_with_the_time(
    log: EventLog, wall_ms: int, served_ms: int
) -> None:
    place = (await grow(log, 2))[-1]
    # From here on both clocks go, however slow the machine is.
    await log.beat(shard_of(ROOM))
    place = (await grow(log, 1, place, stamps=later(place.stamps, 0, 100)))[-1]
    before = await whole(log)
    answer = await log.append(attempt(place, stamps=later(place.stamps, wall_ms, served_ms)))
    assert isinstance(answer, Mistimed)
    assert answer.now.wall_ms >= place.stamps.wall_ms
    assert answer.now.served_ms >= place.stamps.served_ms
    assert await whole(log) == before
    again = attempt(place, stamps=answer.now)
    assert await log.append(again) == Appended(4)


async def test_stamps_may_be_some_seconds_old_but_not_more(log: EventLog, redis: Redis) -> None:
    """A retry carries the stamps of the first attempt, which the store answered late."""
    place = (await grow(log, 1))[-1]
    keys = await redis.hgetall(f"towerhall:{{s{shard_of(ROOM)}}}:clock")
    assert keys == {}, "no node beats here, so the service clock stands"
    await log.beat(shard_of(ROOM))
    await asyncio.sleep(1.1)
    now = (await log.beat(shard_of(ROOM))).now
    assert now.served_ms >= 1_000
    old = Stamps(place.stamps.wall_ms, place.stamps.served_ms)
    place = place_after(wanted := attempt(place, stamps=old), await log.append(wanted))
    assert place.stamps == old
    clock = f"towerhall:{{s{shard_of(ROOM)}}}:clock"
    await redis.hset(clock, "served", MOST_BEHIND_MS + 2_000)
    answer = await log.append(attempt(place, stamps=old))
    assert isinstance(answer, Mistimed)


@pytest.mark.parametrize("old", ["wall_ms", "served_ms"])
async def test_one_stamp_is_not_older_than_the_other(log: EventLog, old: str) -> None:
    """Else a log would tell of more service time than time, or of an outage that was none."""
    await log.beat(shard_of(ROOM))
    place = (await grow(log, 1))[-1]
    await asyncio.sleep(MOST_APART_MS / 1000 + 0.2)
    now = (await log.beat(shard_of(ROOM))).now
    apart = msgspec.structs.replace(now, **{old: getattr(place.stamps, old)})
    answer = await log.append(attempt(place, stamps=apart))
    assert isinstance(answer, Mistimed)
    assert await log.append(attempt(place, stamps=answer.now)) == Appended(2)


async def test_a_timer_proposes_no_time_before_its_own(log: EventLog) -> None:
    place = (await grow(log, 1))[-1]
    at_ms = place.stamps.served_ms + 200
    early = attempt(place, not_before_ms=at_ms, stamps=later(place.stamps, 200, 200))
    assert isinstance(await log.append(early), Early)


async def test_a_lost_entry_goes_back_with_its_own_stamps_however_old(
    log: EventLog, redis: Redis
) -> None:
    place = (await grow(log, 1))[-1]
    old = later(place.stamps, HOUR_MS, HOUR_MS)
    wanted = attempt(place, mode="heal", stamps=old)
    assert await log.append(wanted) == Appended(2)
    assert wanted.entry.stamps == old


async def test_a_beat_tells_both_clocks(log: EventLog, redis: Redis) -> None:
    seconds, micros = await redis.time()
    for _ in range(2):
        now = (await log.beat(shard_of(ROOM))).now
        assert 0 <= now.wall_ms - (1000 * seconds + micros // 1000) < 5_000
