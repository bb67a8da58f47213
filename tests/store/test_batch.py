"""Calls that travel together, and what becomes of them when the store fails in between."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.eventlog.logs import ROOM, attempt, grow, place_after, whole
from tests.proxy.store import Proxy
from tests.store.engines import KINDS, client, started
from towerhall_server.eventlog.answers import Answer, Append, Appended
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.batch import Batch, Call
from towerhall_server.store.connection import Answered, Connection
from towerhall_server.store.errors import StoreError, StoreRefusedError
from towerhall_server.store.resp import packed


async def insist(log: EventLog, wanted: Append) -> Answer:
    """What an actor does: the same bytes again until the answer is known."""
    for _ in range(100):
        try:
            return await log.append(wanted)
        except StoreError:
            continue
    raise AssertionError("no answer in 100 attempts")


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many commands each write to the engine had."""
    seen: list[int] = []
    ask = Connection.ask

    def counted(connection: Connection, commands: Sequence[bytes], answered: Answered) -> None:
        seen.append(len(commands))
        ask(connection, commands, answered)

    monkeypatch.setattr(Connection, "ask", counted)
    return seen


async def test_appends_of_one_tick_travel_in_one_write(log: EventLog, sizes: list[int]) -> None:
    await log.beat(0)
    sizes.clear()
    wanted = [attempt(room=f"ROOM{number:02}") for number in range(40)]
    answers = await asyncio.gather(*map(log.append, wanted))
    assert all(isinstance(answer, Appended) for answer in answers)
    # All scripts were new to the engine: those that it did not know were sent again with text.
    assert sizes[0] == 40
    assert sum(sizes) <= 80
    sizes.clear()
    places = [place_after(w, a) for w, a in zip(wanted, answers, strict=True)]
    later = [attempt(place, room=w.room) for w, place in zip(wanted, places, strict=True)]
    await asyncio.gather(*map(log.append, later))
    assert sizes == [40]


async def test_nobody_waits_for_the_batch_before(log: EventLog, sizes: list[int]) -> None:
    await grow(log, 1, room="OTHERS")
    sizes.clear()
    first = asyncio.create_task(log.append(attempt(room="ROOM")))
    while not sizes:  # noqa: ASYNC110 - nothing tells when a write was made
        await asyncio.sleep(0)
    rest = [asyncio.create_task(log.append(attempt(room=f"ROOM{n}"))) for n in range(7)]
    while len(sizes) < 2:
        assert not first.done()
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    assert sizes == [1, 7]


async def test_what_can_be_done_meanwhile_is_done_after_the_bytes_left_and_before_the_answer(
    log: EventLog, proxy: Proxy, sizes: list[int]
) -> None:
    async with EventLog(f"{proxy.url}?socket_timeout=0.3") as slow:
        await insist(slow, attempt(room="OTHERS"))
        sizes.clear()
        proxy.silent = True
        seen: list[list[int]] = []
        answered_before: list[int] = []
        answers: list[Answer | StoreError] = []

        def meanwhile() -> None:
            seen.append(list(sizes))
            answered_before.append(len(answers))

        for number in range(3):
            wanted = attempt(room=f"ROOM{number}")
            slow.appender.ask(wanted, answers.append, meanwhile)
    assert seen == [[3], [3], [3]]
    assert answered_before == [0, 0, 0]
    assert [type(answer) for answer in answers] == [StoreError] * 3


async def test_an_engine_that_forgot_its_scripts_is_taught_again(
    log: EventLog, redis: Redis
) -> None:
    places = await grow(log, 2)
    await redis.script_flush()
    wanted = [attempt(room=f"ROOM{number}") for number in range(5)]
    answers = await asyncio.gather(log.append(attempt(places[-1])), *map(log.append, wanted))
    assert all(isinstance(answer, Appended) for answer in answers)
    assert len(await whole(log)) == 3


async def test_a_lost_reply_neither_loses_nor_doubles_a_commit(log: EventLog, proxy: Proxy) -> None:
    async with EventLog(proxy.url) as shaky:
        wanted = attempt()
        place = place_after(wanted, await insist(shaky, wanted))
        proxy.lose_share = 0.3
        blobs = [wanted.entry.blob]
        for _n in range(1, 101):
            wanted = attempt(place)
            place = place_after(wanted, await insist(shaky, wanted))
            blobs.append(wanted.entry.blob)
        assert proxy.lost >= 20
    assert await whole(log) == blobs


async def test_many_rooms_share_the_fate_of_a_batch_and_recover(
    log: EventLog, proxy: Proxy
) -> None:
    async def play(log: EventLog, room: str) -> None:
        place: Point = START
        for _ in range(20):
            wanted = attempt(place, room=room)
            place = place_after(wanted, await insist(log, wanted))

    rooms = [f"ROOM{number}" for number in range(10)]
    async with EventLog(proxy.url) as shaky:
        proxy.lose_share = 0.3
        await asyncio.gather(*(play(shaky, room) for room in rooms))
    assert proxy.lost > 0
    for room in rooms:
        assert len(await whole(log, room)) == 20


async def test_a_cancelled_caller_does_not_cancel_the_write(log: EventLog) -> None:
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


async def test_an_error_for_one_call_is_not_an_error_for_its_neighbours(
    engine_url: str, redis: Redis
) -> None:
    await redis.set("text", "no stream")
    batch = Batch(Connection(engine_url))
    wrong = batch.call(Call(packed("XLEN", "text")))
    right = batch.call(Call(packed("GET", "text")))
    with pytest.raises(StoreRefusedError):
        await wrong
    assert await right == b"no stream"
    await batch.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_demoted_primary_is_left(kind: str, tmp_path: Path, temporary: Path) -> None:
    async with (
        started(kind, tmp_path) as url,
        client(url) as redis,
        Proxy(url, temporary / "s").running() as proxy,
        EventLog(proxy.url) as log,
    ):
        (place,) = await grow(log, 1)
        await redis.replicaof("127.0.0.1", "1")
        wanted = attempt(place)
        with pytest.raises(StoreRefusedError, match="READONLY"):
            await log.append(wanted)
        await redis.replicaof("NO", "ONE")
        assert proxy.connections == 1
        assert isinstance(await log.append(wanted), Appended)
        assert proxy.connections == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_a_full_store_refuses_and_nothing_is_half_done(kind: str, tmp_path: Path) -> None:
    async with started(kind, tmp_path) as url, client(url) as redis, EventLog(url) as log:
        (place,) = await grow(log, 1)
        held = {key: await redis.dump(key) for key in await redis.keys("*")}
        await redis.config_set("maxmemory", "1mb")
        wanted = attempt(place, due_at_ms=5, summary=b"shown")
        with pytest.raises(StoreRefusedError, match=r"OOM|maxmemory"):
            await log.append(wanted)
        assert {key: await redis.dump(key) for key in await redis.keys("*")} == held
        await redis.config_set("maxmemory", "0")
        assert isinstance(await log.append(wanted), Appended)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_store_that_comes_back_has_everything_that_was_acknowledged(
    kind: str, tmp_path: Path
) -> None:
    async with started(kind, tmp_path) as url, EventLog(url) as log:
        places = await grow(log, 50)
    async with EventLog(url) as log:
        with pytest.raises(StoreError):
            await log.read(ROOM)
    async with started(kind, tmp_path) as url, EventLog(url) as log:
        assert len(await whole(log)) == 50
        await grow(log, 1, places[-1])
