"""Moves: the short script appends where the log ends as named; else the whole script answers."""

import asyncio

import msgspec
from redis.asyncio import Redis

from tests.eventlog.logs import ROOM, attempt, copy_of, go_back, grow, place_after, whole
from towerhall_server.eventlog.answers import Appended, Conflict, Gone
from towerhall_server.eventlog.entry import Point
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog

KEYS = room_keys(ROOM)


async def dump(redis: Redis) -> dict[bytes | str, bytes | None]:
    return await copy_of(redis)


async def test_a_move_leaves_the_same_entry_as_any_append_and_changes_nothing_else(
    log: EventLog, redis: Redis
) -> None:
    (place,) = await grow(log, 1, due_at_ms=77, summary=b"shown")
    before = await dump(redis)
    wanted = attempt(place, due_at_ms=77, summary=None)
    await log.append(wanted)
    by_append = await redis.xrange(KEYS.log)
    await go_back(redis, before)
    await log.append(msgspec.structs.replace(wanted, is_move=True))
    assert await redis.xrange(KEYS.log) == by_append
    del before[KEYS.log.encode()]
    after = await dump(redis)
    assert {key: after[key] for key in before} == before


async def test_a_move_repeated_after_a_lost_answer_is_appended_once(
    log: EventLog, redis: Redis
) -> None:
    (place,) = await grow(log, 1)
    wanted = attempt(place, is_move=True)
    later = attempt(place_after(wanted, await log.append(wanted)), is_move=True)
    place = place_after(later, await log.append(later))
    before = await dump(redis)
    assert await log.append(wanted) == Appended(2)
    assert await log.append(later) == Appended(3)
    assert await dump(redis) == before


async def test_of_two_moves_for_one_seq_one_conflicts(log: EventLog) -> None:
    (place,) = await grow(log, 1)
    one, other = attempt(place, is_move=True), attempt(place, is_move=True)
    first, second = await asyncio.gather(log.append(one), log.append(other))
    assert first == Appended(2)
    assert second == Conflict(2, one.entry.chain)
    assert len(await whole(log)) == 2


async def test_a_move_after_another_past_conflicts_and_writes_nothing(
    log: EventLog, redis: Redis
) -> None:
    place = (await grow(log, 3))[-1]
    before = await dump(redis)
    forked = Point(place.seq, bytes(32), place.stamps)
    assert await log.append(attempt(forked, is_move=True)) == Conflict(3, place.chain)
    ahead = Point(place.seq + 1, place.chain, place.stamps)
    assert await log.append(attempt(ahead, is_move=True)) == Conflict(3, place.chain)
    assert await dump(redis) == before


async def test_a_move_never_begins_a_log(log: EventLog, redis: Redis) -> None:
    (place,) = await grow(log, 1)
    await redis.delete(KEYS.log)
    assert await log.append(attempt(place, is_move=True)) == Gone()
    assert not await redis.exists(KEYS.log)
