"""Reading starts at the reader's own place and trusts nothing that does not link up."""

from typing import Any

import pytest
from redis.asyncio import Redis

from tests.eventlog.logs import ROOM, attempt, copy_of, go_back, grow, place_after
from towerhall_server.eventlog.answers import (
    Behind,
    Following,
    Forked,
    Gone,
)
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog

LOG = room_keys(ROOM).log


async def test_from_every_place_exactly_the_rest_is_read(log: EventLog) -> None:
    places = [START, *await grow(log, 9)]
    for place in places:
        reading = await log.read(ROOM, place)
        assert isinstance(reading, Following)
        assert [entry.point for entry in reading.entries] == places[place.seq + 1 :]
        assert not reading.more


async def test_long_logs_come_in_pages_that_join(log: EventLog) -> None:
    places = await grow(log, 10)
    place, found, pages = START, [], 0
    while True:
        reading = await log.read(ROOM, place, page=3)
        assert isinstance(reading, Following)
        found += [entry.point for entry in reading.entries]
        place, pages = found[-1], pages + 1
        if not reading.more:
            break
    assert found == places
    assert pages == 4


async def test_a_room_that_never_was_is_gone(log: EventLog) -> None:
    assert await log.read(ROOM) == Gone()


async def test_a_log_that_vanished_is_gone_for_a_reader_in_the_middle(
    log: EventLog, redis: Redis
) -> None:
    places = await grow(log, 3)
    await redis.delete(LOG)
    assert await log.read(ROOM, places[1]) == Gone()


async def test_a_log_that_lost_its_tail_is_not_taken_for_up_to_date(
    log: EventLog, redis: Redis
) -> None:
    places = await grow(log, 3)
    older = await copy_of(redis)
    (last,) = await grow(log, 1, places[-1])
    await go_back(redis, older)
    reading = await log.read(ROOM, last)
    assert isinstance(reading, Behind)
    assert reading.top.point == places[-1]


async def test_a_log_that_is_healed_while_it_is_read_is_whole(
    log: EventLog, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = await grow(log, 3)
    older = await copy_of(redis)
    (last,) = await grow(log, 1, places[-1])
    whole = await copy_of(redis)
    await go_back(redis, older)
    ask = log._ask

    async def healed_meanwhile(*command: Any) -> Any:
        if command[0] == "XREVRANGE":
            await go_back(redis, whole)
        return await ask(*command)

    monkeypatch.setattr(log, "_ask", healed_meanwhile)
    assert await log.read(ROOM, last) == Following((), more=False)


async def test_a_log_that_went_on_differently_is_forked_at_the_readers_place(
    log: EventLog, redis: Redis
) -> None:
    places = await grow(log, 2)
    older = await copy_of(redis)
    (lost,) = await grow(log, 1, places[-1])
    await go_back(redis, older)
    await grow(log, 2, places[-1])
    assert await log.read(ROOM, lost) == Forked(3)


async def test_a_place_with_another_chain_is_forked(log: EventLog) -> None:
    places = await grow(log, 3)
    wrong = Point(2, bytes(32), places[1].stamps)
    assert await log.read(ROOM, wrong) == Forked(2)


@pytest.mark.parametrize("field", ["i", "c", "b", "t", "u"])
async def test_a_changed_byte_in_the_store_is_noticed(
    log: EventLog, redis: Redis, field: str
) -> None:
    await grow(log, 4)
    entries: Any = await redis.xrange(LOG)
    await redis.delete(LOG)
    for key, fields in entries:
        if key == b"2-0":
            old = fields[field.encode()]
            fields[field.encode()] = bytes([old[0] ^ 1]) + old[1:]
        await redis.xadd(LOG, fields, id=key)
    reading = await log.read(ROOM)
    assert isinstance(reading, Forked)
    assert reading.seq == 2
    assert [entry.seq for entry in reading.sound] == [1]


async def test_a_missing_entry_is_noticed(log: EventLog, redis: Redis) -> None:
    await grow(log, 4)
    await redis.xdel(LOG, "2-0")
    reading = await log.read(ROOM)
    assert isinstance(reading, Forked)
    assert reading.seq == 3
    assert [entry.seq for entry in reading.sound] == [1]


async def test_rooms_do_not_see_each_other(log: EventLog) -> None:
    await grow(log, 2)
    other = attempt(room="OTHERS")
    place = place_after(other, await log.append(other))
    reading = await log.read("OTHERS")
    assert isinstance(reading, Following)
    assert [entry.point for entry in reading.entries] == [place]
