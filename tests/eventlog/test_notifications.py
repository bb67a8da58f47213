"""Wake-ups: every entry is heard of while listening, and a cut is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from redis.asyncio import Redis

from tests.eventlog.logs import DAY_MS, ROOM, attempt, grow, place_after
from tests.proxy.store import Proxy
from towerhall_server.eventlog import notifications
from towerhall_server.eventlog.answers import Appended, Following
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import (
    ALONE_BEATS,
    Alive,
    Alone,
    Missed,
    Said,
    Told,
    Wake,
    Woken,
    listen,
)
from towerhall_server.store import connection
from towerhall_server.store.errors import StoreError, StoreRefusedError


async def hear(wakes: AsyncIterator[Wake]) -> Wake:
    return await asyncio.wait_for(anext(wakes), timeout=10)


async def test_listening_begins_with_the_advice_to_read(engine_url: str) -> None:
    async with aclosing(listen(engine_url, "me")) as wakes:
        assert await hear(wakes) == Missed()


async def test_every_entry_of_every_room_is_heard_with_all_that_the_log_holds(
    log: EventLog, engine_url: str
) -> None:
    async with aclosing(listen(engine_url, "me")) as wakes:
        assert await hear(wakes) == Missed()
        await grow(log, 3, blob=bytes(range(256)))
        other = attempt(room="OTHERS")
        place_after(other, await log.append(other))
        heard = [await hear(wakes) for _ in range(4)]
    entries = []
    for room in (ROOM, "OTHERS"):
        reading = await log.read(room)
        assert isinstance(reading, Following)
        entries += [(room, entry) for entry in reading.entries]
    found = [(wake.room, wake.entry) for wake in heard if isinstance(wake, Woken)]
    assert sorted(map(repr, found)) == sorted(map(repr, entries))


async def test_a_cut_ends_listening_and_the_next_begins_with_reading(
    log: EventLog, proxy: Proxy
) -> None:
    async with aclosing(listen(proxy.url, "me")) as wakes:
        assert await hear(wakes) == Missed()
        proxy.lose_share = 1.0
        (place,) = await grow(log, 1)
        with pytest.raises(StoreError):
            await hear(wakes)
        proxy.lose_share = 0.0
    async with aclosing(listen(proxy.url, "me")) as wakes:
        assert await hear(wakes) == Missed()
        (place,) = await grow(log, 1, place)
        woken = await hear(wakes)
        assert isinstance(woken, Woken)
        assert woken.entry.point == place


async def test_what_is_said_is_heard_and_told_from_entries(log: EventLog, engine_url: str) -> None:
    async with aclosing(listen(engine_url, "me")) as wakes:
        assert await hear(wakes) == Missed()
        (place,) = await grow(log, 1)
        line = await log.say(ROOM, b"hello \xff", DAY_MS)
        await grow(log, 1, place)
        assert line is not None
        first, said, second = [await hear(wakes) for _ in range(3)]
    assert said == Said(ROOM, line)
    for woken, seq in ((first, 1), (second, 2)):
        assert isinstance(woken, Woken)
        assert woken.entry.seq == seq


async def test_what_another_version_publishes_is_passed_over(
    log: EventLog, redis: Redis, engine_url: str
) -> None:
    async with aclosing(listen(engine_url, "me")) as wakes:
        assert await hear(wakes) == Missed()
        await redis.publish(room_keys(ROOM).shard.wake, b"other ROOM " + b"znews")
        await grow(log, 1)
        assert isinstance(await hear(wakes), Woken)


async def test_others_tell_that_they_are_there_and_who_looks_at_rooms(
    log: EventLog, engine_url: str
) -> None:
    async with aclosing(listen(engine_url, "me")) as heard, EventLog(engine_url, "me") as own:
        assert await hear(heard) == Missed()
        own.be_there()
        own.tell(ROOM, b"my own guests")
        await grow(own, 1)
        line = await own.say(ROOM, b"my own line", DAY_MS)
        assert line is not None
        log.be_there()
        log.tell(ROOM, b"the guests there")
        assert [await hear(heard) for _ in range(3)] == [
            Said(ROOM, line),
            Alive("unnamed"),
            Told(ROOM, "unnamed", b"the guests there"),
        ]


async def test_silence_is_a_reason_to_read(
    log: EventLog, engine_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "DOUBT_SECONDS", 0.2)
    async with aclosing(listen(engine_url, "me")) as heard:
        assert [await hear(heard) for _ in range(3)] == [Missed()] * 3


async def test_a_node_that_hears_itself_is_not_in_doubt(
    engine_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "DOUBT_SECONDS", 0.4)
    async with aclosing(listen(engine_url, "me")) as heard, EventLog(engine_url, "me") as own:
        assert await hear(heard) == Missed()
        waiting = asyncio.create_task(anext(heard))
        for _ in range(8):
            own.be_there()
            await asyncio.sleep(0.1)
        # It is alone, and takes its own beats for news.
        assert await waiting == Alone()
        assert await hear(heard) == Missed()


async def test_who_is_alone_listens_to_rooms_again_when_somebody_comes(
    log: EventLog, redis: Redis, engine_url: str
) -> None:
    channel = room_keys(ROOM).shard.wake

    async def listeners() -> int:
        ((_, count),) = await redis.pubsub_numsub(channel)
        return int(count)

    async with aclosing(listen(engine_url, "me")) as heard, EventLog(engine_url, "me") as own:
        assert await hear(heard) == Missed()
        assert await listeners() == 1
        waiting = asyncio.create_task(anext(heard))
        for _ in range(ALONE_BEATS):
            own.be_there()
        while await listeners():  # noqa: ASYNC110 - the store tells nobody of this
            await asyncio.sleep(0.01)
        assert await waiting == Alone()
        waiting = asyncio.create_task(anext(heard))
        (place,) = await grow(log, 1)
        assert not waiting.done()
        log.be_there()
        assert await waiting == Alive("unnamed")
        assert await hear(heard) == Missed(), "what happened meanwhile has to be read"
        (place,) = await grow(log, 1, place)
        woken = await hear(heard)
        assert isinstance(woken, Woken)
        assert woken.entry.point == place


async def test_a_quiet_subscription_is_asked_whether_it_lives(log: EventLog, proxy: Proxy) -> None:
    async with aclosing(listen(f"{proxy.url}?socket_timeout=0.8", "me")) as wakes:
        assert await hear(wakes) == Missed()
        heard = asyncio.create_task(anext(wakes))
        await asyncio.sleep(1.8)
        assert not heard.done()
        await grow(log, 1)
        assert isinstance(await heard, Woken)
        proxy.silent = True
        with pytest.raises(StoreError, match="no answer in"):
            await hear(wakes)


async def test_a_slow_listener_misses_nothing(
    log: EventLog, redis: Redis, engine_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MOST_UNHEARD", 20)
    blob = bytes(10_000)
    async with aclosing(listen(engine_url, "me")) as wakes:
        assert await hear(wakes) == Missed()
        rooms = [f"ROOM{number}" for number in range(300)]
        for room in rooms:
            assert isinstance(await log.append(attempt(room=room, blob=blob)), Appended)
        await asyncio.sleep(0.1)
        heard = [await hear(wakes) for _ in rooms]
    assert [wake.room for wake in heard if isinstance(wake, Woken)] == rooms


async def test_who_may_not_listen_is_told_so(engine_url: str, redis: Redis) -> None:
    await redis.acl_setuser(
        "deaf", enabled=True, passwords="+pw", keys=["*"], channels=[], commands=["+@all"]
    )
    url = f"{engine_url}?username=deaf&password=pw"
    try:
        async with aclosing(listen(url, "me")) as wakes:
            with pytest.raises(StoreRefusedError, match="NOPERM"):
                await hear(wakes)
    finally:
        await redis.acl_deluser("deaf")


async def test_where_nobody_is_listening_fails_at_once() -> None:
    async with aclosing(listen("unix:///nowhere/s", "me")) as wakes:
        with pytest.raises(StoreError):
            await hear(wakes)
