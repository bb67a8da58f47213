"""What a server hears of the rooms that another one serves, on every kind of store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from tests.eventlog.logs import DAY_MS, ROOM, attempt, grow, place_after
from towerhall_server.eventlog.entry import Entry
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import (
    Alive,
    Counted,
    Kept,
    Missed,
    MissedIn,
    Said,
    Told,
    Wake,
    Woken,
)

BESIDE = Alive | Counted | Kept | MissedIn
"""What concerns every server, and that a shard is heard from now on."""


async def hear(news: AsyncIterator[Wake]) -> Wake:
    return await asyncio.wait_for(anext(news), timeout=10)


@asynccontextmanager
async def heeding(url: str, *rooms: str) -> AsyncIterator[AsyncIterator[Wake]]:
    """The news of another server that has rooms open."""
    async with EventLog(url, "other") as other, aclosing(other.news()) as news:
        assert await hear(news) == Missed()
        for room in rooms:
            await other.heed(room)
        yield (wake async for wake in news if not isinstance(wake, BESIDE))


async def heard_until(news: AsyncIterator[Wake], last: bytes) -> list[Wake]:
    """All up to the news that somebody looks at a room."""
    heard = []
    while not (isinstance(wake := await hear(news), Told) and wake.guests == last):
        heard.append(wake)
    return heard


async def test_other_servers_hear_each_entry_with_all_that_the_log_holds(
    log: EventLog, engine_url: str
) -> None:
    async with heeding(engine_url, ROOM, "OTHERS") as news:
        wanted = [attempt(blob=bytes(range(256))), attempt(room="OTHERS")]
        for each in wanted:
            place_after(each, await log.append(each))
        heard: dict[str, Entry] = {}
        while len(heard) < 2:
            wake = await hear(news)
            assert isinstance(wake, Woken)
            heard[wake.room] = wake.entry
    assert heard == {each.room: each.entry for each in wanted}


@pytest.mark.parametrize("is_heard", [True, False])
async def test_a_move_is_published_if_other_nodes_may_listen(
    log: EventLog, engine_url: str, is_heard: bool
) -> None:
    (place,) = await grow(log, 1)
    log.appender.is_heard = is_heard
    async with heeding(engine_url, ROOM) as news:
        wanted = attempt(place, is_move=True)
        place_after(wanted, await log.append(wanted))
        log.tell(ROOM, b"end")
        heard = await heard_until(news, b"end")
    assert [each.entry for each in heard if isinstance(each, Woken)] == [wanted.entry] * is_heard
    assert len(heard) == is_heard


async def test_other_servers_hear_chat_and_hints_and_who_watches(
    log: EventLog, engine_url: str
) -> None:
    async with heeding(engine_url, ROOM) as news:
        (_,) = await grow(log, 1)
        line = await log.say(ROOM, b"hello \xff", DAY_MS)
        log.hint(ROOM, b"a smile")
        log.tell(ROOM, b"guests")
        entry, said, hint = await heard_until(news, b"guests")
    assert isinstance(entry, Woken)
    assert line is not None
    assert said == Said(ROOM, line)
    assert isinstance(hint, Said)
    assert hint.line.text == b"a smile"
