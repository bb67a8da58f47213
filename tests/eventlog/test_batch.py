"""Calls that travel together, and what becomes of them when the store fails in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from redis.asyncio import Redis

from tests.eventlog.engines import KINDS, binary_of, client
from tests.eventlog.logs import ROOM, attempt, grow, place_after, whole
from tests.eventlog.proxy import Proxy
from towerhall_server.eventlog.batch import Batch, StoreError, StoreRefusedError
from towerhall_server.eventlog.embedded import start_engine
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.log import Answer, Append, Appended, EventLog


@pytest.fixture
async def proxy(engine_url: str) -> AsyncIterator[Proxy]:
    with TemporaryDirectory() as folder:
        async with Proxy(engine_url, Path(folder) / "s").running() as started:
            yield started


@asynccontextmanager
async def started(kind: str, data_folder: Path) -> AsyncIterator[str]:
    """An engine of one's own, to fill up or to end."""
    engine = await start_engine(data_folder, binary=binary_of(kind))
    try:
        yield engine.url
    finally:
        await engine.stop()


async def insist(log: EventLog, wanted: Append) -> Answer:
    """What an actor does: the same bytes again until the answer is known."""
    for _ in range(100):
        try:
            return await log.append(wanted)
        except StoreError:
            continue
    raise AssertionError("no answer in 100 attempts")


class Counting:
    """A client that counts the pipelines it was asked for."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self.sizes: list[int] = []

    def pipeline(self, *, transaction: bool) -> object:
        pipeline = self.redis.pipeline(transaction=transaction)
        execute = pipeline.execute

        async def counted(raise_on_error: bool = True) -> list[object]:
            self.sizes.append(len(pipeline.command_stack))
            return await execute(raise_on_error=raise_on_error)

        pipeline.execute = counted  # type: ignore[method-assign]
        return pipeline


async def test_appends_of_one_tick_travel_in_one_pipeline(redis: Redis) -> None:
    counting = Counting(redis)
    log = EventLog(counting)  # type: ignore[arg-type]
    await log.beat(0)
    counting.sizes.clear()
    wanted = [attempt(room=f"ROOM{number:02}") for number in range(40)]
    answers = await asyncio.gather(*map(log.append, wanted))
    assert all(isinstance(answer, Appended) for answer in answers)
    # All scripts were new to the engine: those that it did not know were sent again with text.
    assert counting.sizes[0] == 40
    assert sum(counting.sizes) <= 80
    counting.sizes.clear()
    places = [place_after(w, a) for w, a in zip(wanted, answers, strict=True)]
    later = [attempt(place, room=w.room) for w, place in zip(wanted, places, strict=True)]
    await asyncio.gather(*map(log.append, later))
    assert counting.sizes == [40]


async def test_an_engine_that_forgot_its_scripts_is_taught_again(redis: Redis) -> None:
    log = EventLog(redis)
    places = await grow(log, 2)
    await redis.script_flush()
    wanted = [attempt(room=f"ROOM{number}") for number in range(5)]
    answers = await asyncio.gather(log.append(attempt(places[-1])), *map(log.append, wanted))
    assert all(isinstance(answer, Appended) for answer in answers)
    assert len(await whole(log)) == 3


async def test_a_lost_reply_neither_loses_nor_doubles_a_commit(redis: Redis, proxy: Proxy) -> None:
    async with client(proxy.url) as shaky:
        log = EventLog(shaky)
        wanted = attempt()
        place = place_after(wanted, await insist(log, wanted))
        proxy.lose_share = 0.3
        blobs = [wanted.blob]
        for n in range(1, 101):
            wanted = attempt(place, origin="me/1", n=n)
            place = place_after(wanted, await insist(log, wanted))
            blobs.append(wanted.blob)
        assert proxy.lost >= 20
    assert await whole(EventLog(redis)) == blobs


async def test_many_rooms_share_the_fate_of_a_batch_and_recover(redis: Redis, proxy: Proxy) -> None:
    async def play(log: EventLog, room: str) -> None:
        place: Point = START
        for _ in range(20):
            wanted = attempt(place, room=room)
            place = place_after(wanted, await insist(log, wanted))

    rooms = [f"ROOM{number}" for number in range(10)]
    async with client(proxy.url) as shaky:
        proxy.lose_share = 0.3
        log = EventLog(shaky)
        await asyncio.gather(*(play(log, room) for room in rooms))
    assert proxy.lost > 0
    for room in rooms:
        assert len(await whole(EventLog(redis), room)) == 20


async def test_a_cancelled_caller_does_not_cancel_the_write(redis: Redis) -> None:
    log = EventLog(redis)
    (place,) = await grow(log, 1)
    wanted = attempt(place)
    task = asyncio.create_task(log.append(wanted))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await log.close()
    assert len(await whole(log)) == 2
    assert isinstance(await log.append(wanted), Appended)


async def test_an_error_for_one_call_is_not_an_error_for_its_neighbours(redis: Redis) -> None:
    batch = Batch(redis)
    await redis.set("text", "no stream")
    wrong = asyncio.create_task(batch.ask("XLEN", "text"))
    right = asyncio.create_task(batch.ask("GET", "text"))
    with pytest.raises(StoreRefusedError):
        await wrong
    assert await right == b"no stream"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_full_store_refuses_and_nothing_is_half_done(kind: str, tmp_path: Path) -> None:
    async with started(kind, tmp_path) as url, client(url) as redis:
        log = EventLog(redis)
        (place,) = await grow(log, 1)
        held = {key: await redis.dump(key) for key in await redis.keys("*")}
        await redis.config_set("maxmemory", "1mb")
        wanted = attempt(place, origin="me/1", n=1, due_in_ms=5, summary=b"shown")
        with pytest.raises(StoreRefusedError, match=r"OOM|maxmemory"):
            await log.append(wanted)
        assert {key: await redis.dump(key) for key in await redis.keys("*")} == held
        await redis.config_set("maxmemory", "0")
        assert isinstance(await log.append(wanted), Appended)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_store_that_comes_back_has_everything_that_was_acknowledged(
    kind: str, tmp_path: Path
) -> None:
    async with started(kind, tmp_path) as url, client(url) as redis:
        places = await grow(EventLog(redis), 50)
    async with client(url) as redis:
        with pytest.raises(StoreError):
            await EventLog(redis).read(ROOM)
    async with started(kind, tmp_path) as url, client(url) as redis:
        log = EventLog(redis)
        assert len(await whole(log)) == 50
        await grow(log, 1, places[-1])
