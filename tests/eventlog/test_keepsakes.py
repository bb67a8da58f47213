"""What every node remembers beside the store, and writes again when the store may have lost it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis

from tests.proxy.store import Proxy
from towerhall_server.eventlog import keepsakes as memory_module
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import Kept, Missed, Wake, listen
from towerhall_server.store.errors import StoreError

MINUTE_MS = 60_000
PATIENCE_SECONDS = 10.0


@asynccontextmanager
async def hearing(url: str, name: str) -> AsyncIterator[EventLog]:
    """A node that hears the others."""
    subscribed = asyncio.Event()
    async with EventLog(url, name) as log:

        async def hear() -> None:
            async for wake in log.memory.tapped(listen(url, name)):
                if isinstance(wake, Missed):
                    subscribed.set()
                assert not isinstance(wake, Kept), "nobody else needs it"

        task = asyncio.create_task(hear())
        await subscribed.wait()
        yield log
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(log: EventLog, key: str, value: bytes | None) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while log.memory.get(key) != value:  # noqa: ASYNC110 - it comes through the store
            await asyncio.sleep(0.005)


async def until_stored(redis: Redis, key: str, value: bytes) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await redis.get(key) != value:  # noqa: ASYNC110 - the store sets no event
            await asyncio.sleep(0.005)


async def test_a_fact_is_written_and_every_node_remembers_it(engine_url: str, redis: Redis) -> None:
    async with hearing(engine_url, "one") as one, hearing(engine_url, "other") as other:
        await one.memory.write("fact", b"value", MINUTE_MS)
        assert await redis.get("fact") == b"value"
        assert 0 < await redis.pttl("fact") <= MINUTE_MS
        assert one.memory.get("fact") == b"value"
        await until(other, "fact", b"value")
        assert other.memory.get("another") is None
        await other.memory.write("fact", b"newer", MINUTE_MS)
        await until(one, "fact", b"newer")


async def test_after_a_break_all_facts_are_written_again(engine_url: str, redis: Redis) -> None:
    async with EventLog(engine_url, "one") as log:
        names = [f"fact {number}" for number in range(3 * memory_module.AT_ONCE)]
        for name in names:
            log.memory.note(name, name.encode(), MINUTE_MS)
        await redis.flushall()
        await redis.set(names[0], b"as it was before")

        async def broken() -> AsyncIterator[Wake]:
            yield Missed()

        assert [wake async for wake in log.memory.tapped(broken())] == [Missed()]
        await until_stored(redis, names[-1], names[-1].encode())
        assert await redis.mget(names) == [name.encode() for name in names]
        assert 0 < await redis.pttl(names[0]) <= MINUTE_MS


async def test_facts_are_written_until_the_store_takes_them(
    redis: Redis, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_module, "RETRY_SECONDS", 0.05)
    async with EventLog(proxy.url) as log:
        proxy.cut_after = 1
        with pytest.raises(StoreError):
            await log.memory.write("fact", b"value", MINUTE_MS)
        assert log.memory.get("fact") == b"value", "it is done, whether the store knows or not"
        await redis.delete("fact")
        log.memory.doubt()
        await asyncio.sleep(0.2)
        proxy.cut_after = None
        await until_stored(redis, "fact", b"value")


async def test_what_has_expired_is_forgotten_and_not_written_again(
    redis: Redis, log: EventLog
) -> None:
    log.memory.note("old", b"value", 20)
    log.memory.note("new", b"value", MINUTE_MS)
    assert log.memory.get("old") == b"value"
    await asyncio.sleep(0.05)
    log.memory.doubt()
    await until_stored(redis, "new", b"value")
    assert await redis.exists("old") == 0
    assert log.memory.get("old") is None
    assert len(log.memory) == 1


async def test_memory_is_bounded_and_the_oldest_facts_go_first(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_module, "MOST_BYTES", 1000)
    for number in range(100):
        log.memory.take(Kept(f"{number:010}", bytes(90), 1 << 50))
    log.memory.take(Kept(f"{95:010}", bytes(90), 1 << 50))
    held = [number for number in range(100) if log.memory.get(f"{number:010}") is not None]
    assert held == list(range(90, 100))
    log.memory.take(Kept("large", bytes(2000), 1 << 50))
    assert len(log.memory) == 0
