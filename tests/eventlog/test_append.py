"""The append script on real engines, step by step: each answer in its case, and no other write."""

import asyncio
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from tests.eventlog.logs import (
    DAY_MS,
    ROOM,
    attempt,
    copy_of,
    go_back,
    grow,
    healing,
    place_after,
    whole,
)
from towerhall_server.eventlog.answers import (
    Appended,
    Conflict,
    Early,
    Exists,
    Following,
    Gone,
    Mistimed,
)
from towerhall_server.eventlog.entry import START, Point, Stamps
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog

KEYS = room_keys(ROOM)


async def dump(redis: Redis) -> dict[bytes | str, Any]:
    """Everything that the store holds, to see that a refusal wrote nothing."""
    held: dict[bytes | str, Any] = {}
    for key in sorted(await redis.keys("*")):
        kind = await redis.type(key)
        if kind == b"stream":
            held[key] = await redis.xrange(key)
        elif kind == b"hash":
            held[key] = await redis.hgetall(key)
        else:
            held[key] = await redis.zrange(key, 0, -1, withscores=True)
    return held


async def test_commits_are_numbered_without_gaps_and_stamped_in_order(log: EventLog) -> None:
    places = await grow(log, 20)
    assert [place.seq for place in places] == list(range(1, 21))
    for earlier, later in pairwise(places):
        assert earlier.stamps.wall_ms <= later.stamps.wall_ms
        assert earlier.stamps.served_ms <= later.stamps.served_ms
    reading = await log.read(ROOM)
    assert isinstance(reading, Following)
    assert [entry.point for entry in reading.entries] == places


async def test_a_log_that_is_not_there_is_never_made_by_an_append(
    log: EventLog, redis: Redis
) -> None:
    (place,) = await grow(log, 1)
    await redis.flushall()
    later = attempt(place)
    for mode in ("append", "heal"):
        wanted = msgspec.structs.replace(later, mode=mode)
        assert await log.append(wanted) == Gone()
    assert await redis.keys("*") == []


async def test_a_repeated_append_gets_its_first_answer_even_after_later_ones(
    log: EventLog, redis: Redis
) -> None:
    created = attempt()
    first = await log.append(created)
    second_wanted = attempt(place_after(created, first))
    second = await log.append(second_wanted)
    await grow(log, 3, place_after(second_wanted, second))
    before = await dump(redis)
    assert await log.append(created) == first
    assert await log.append(second_wanted) == second
    assert await dump(redis) == before


async def test_a_room_code_is_given_once(log: EventLog) -> None:
    await grow(log, 2)
    assert await log.append(attempt()) == Exists()


async def test_of_two_appends_for_one_seq_one_conflicts(log: EventLog, redis: Redis) -> None:
    (place,) = await grow(log, 1)
    one, other = attempt(place), attempt(place)
    answers = await asyncio.gather(log.append(one), log.append(other))
    won = [
        wanted for wanted, answer in zip((one, other), answers, strict=True) if answer == answers[0]
    ]
    assert isinstance(answers[0], Appended)
    assert answers[1] == Conflict(2, won[0].entry.chain)
    assert len(await whole(log)) == 2


async def test_the_same_seq_with_another_chain_conflicts(log: EventLog, redis: Redis) -> None:
    place = (await grow(log, 3))[-1]
    forked = Point(place.seq, bytes(32), place.stamps)
    before = await dump(redis)
    assert await log.append(attempt(forked)) == Conflict(3, place.chain)
    assert await dump(redis) == before


@pytest.mark.parametrize("ahead", [1, 5])
async def test_an_append_beyond_the_end_conflicts(log: EventLog, ahead: int) -> None:
    place = (await grow(log, 2))[-1]
    wanted = attempt(Point(place.seq + ahead, place.chain, place.stamps))
    assert await log.append(wanted) == Conflict(2, place.chain)


async def test_a_timer_does_not_fire_early_and_writes_nothing(log: EventLog, redis: Redis) -> None:
    place = (await grow(log, 1))[-1]
    before = await dump(redis)
    answer = await log.append(attempt(place, not_before_ms=place.stamps.served_ms + 60_000))
    assert isinstance(answer, Early)
    assert 0 < answer.ms_left <= 60_000
    assert await dump(redis) == before


async def test_a_timer_fires_when_its_time_has_come(log: EventLog) -> None:
    place = (await grow(log, 1))[-1]
    wanted = attempt(place, not_before_ms=place.stamps.served_ms)
    assert isinstance(await log.append(wanted), Appended)


async def test_a_deadline_is_kept_or_removed(log: EventLog, redis: Redis) -> None:
    (place,) = await grow(log, 1, due_at_ms=987_654_321_012)
    assert await redis.zscore(KEYS.shard.due, ROOM) == 987_654_321_012
    await grow(log, 1, place)
    assert await redis.zscore(KEYS.shard.due, ROOM) is None


async def test_the_lobby_shows_the_summary_of_the_last_commit(log: EventLog, redis: Redis) -> None:
    (place,) = await grow(log, 1, summary=b"two seats free")
    assert await redis.hget(KEYS.shard.lobby, ROOM) == b"two seats free"
    await grow(log, 1, place)
    assert await redis.hget(KEYS.shard.lobby, ROOM) is None


async def test_log_and_secret_expire_together(log: EventLog, redis: Redis) -> None:
    await log.keep_secret(ROOM, b"secret", 3_600_000)
    await grow(log, 1)
    for key in (KEYS.log, KEYS.secret):
        assert DAY_MS - 5000 < await redis.pttl(key) <= DAY_MS


async def test_every_commit_leaves_most_of_the_time_ahead(log: EventLog, redis: Redis) -> None:
    await log.keep_secret(ROOM, b"secret", DAY_MS)
    [place] = await grow(log, 1)
    for _n in range(2, 40):
        for key in (KEYS.log, KEYS.secret):
            assert await redis.pttl(key) > 0.7 * DAY_MS
            # A day passes slowly.
            await redis.pexpire(key, await redis.pttl(key) - DAY_MS // 10)
        [place] = await grow(log, 1, place)


async def test_binary_blobs_come_back_as_they_were(log: EventLog) -> None:
    blob = bytes(range(256)) * 3
    await grow(log, 1, blob=blob)
    assert await whole(log) == [blob]


async def test_a_lost_tail_is_healed_with_its_original_stamps(log: EventLog, redis: Redis) -> None:
    places, wanted = [START], []
    for n in range(1, 5):
        wanted.append(attempt(places[-1]))
        places.append(place_after(wanted[-1], await log.append(wanted[-1])))
        if n == 2:
            older = await copy_of(redis)
    complete = await dump(redis)
    await go_back(redis, older)
    for original, place in zip(wanted[2:], places[3:], strict=True):
        assert await log.append(healing(original)) == Appended(place.seq)
    assert await dump(redis) == complete


async def test_healing_stops_where_the_log_went_on_differently(log: EventLog, redis: Redis) -> None:
    places = await grow(log, 2)
    older = await copy_of(redis)
    lost = attempt(places[1])
    assert isinstance(await log.append(lost), Appended)
    await go_back(redis, older)
    (other,) = await grow(log, 1, places[1])
    answer = await log.append(healing(lost))
    assert answer == Conflict(3, other.chain)


async def test_time_never_runs_backwards_in_a_log(log: EventLog, redis: Redis) -> None:
    created = attempt()
    first = await log.append(created)
    before = place_after(created, first)
    late = Stamps(before.stamps.wall_ms + 3_600_000, before.stamps.served_ms + 3_600_000)
    later = attempt(before, stamps=late)
    place = place_after(later, await log.append(healing(later)))
    early = attempt(place, stamps=before.stamps)
    assert await log.append(early) == Mistimed(late)
    assert await log.append(attempt(place, stamps=late)) == Appended(3)
