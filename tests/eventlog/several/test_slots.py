"""News of single shards, and slots that move while rooms write."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.eventlog.logs import ROOM, attempt, grow, place_after, whole
from tests.eventlog.several.test_failover import ON_A_CLUSTER, Writer, check, slot_of_room, until
from tests.store.several import (
    Engine,
    Group,
    cluster_of,
    guarded_cluster_of,
    migrate_slot,
    move_slot,
    primary_of,
)
from towerhall_server.eventlog.answers import Appended
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import Missed, MissedIn, Wake, Woken
from towerhall_server.store.errors import StoreError

SLOT: Final = slot_of_room(ROOM)
BEAT_SECONDS: Final = 0.5
HEARD_SECONDS: Final = 10.0
Move = Callable[[Group, int, Engine, Engine], None]


class Listener:
    """Another server with the room open, and all that it has heard."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.heard: list[Wake] = []

    def told_to_read(self) -> int:
        return sum(isinstance(wake, MissedIn) for wake in self.heard)

    def seqs(self) -> list[int]:
        return [wake.entry.seq for wake in self.heard if isinstance(wake, Woken)]

    async def until_heard_again(self, reads: int, writer: Writer) -> None:
        """Until the room was read once more than that, and entries of from now on are heard."""
        async with asyncio.timeout(HEARD_SECONDS):
            await until(lambda: self.told_to_read() > reads)
            later = len(writer.places)
            await until(lambda: later < max(self.seqs()))


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[Listener]:
    # A server that hears itself alone would stop to listen.
    async with EventLog(url, "other") as log, EventLog(url, "third") as third:
        listener = Listener(log)

        async def listen() -> None:
            async with aclosing(log.news()) as news:
                async for wake in news:
                    listener.heard.append(wake)

        async def beat() -> None:
            while True:
                third.be_there()
                await asyncio.sleep(BEAT_SECONDS)

        tasks = [asyncio.create_task(listen()), asyncio.create_task(beat())]
        try:
            await until(lambda: Missed() in listener.heard)
            await log.heed(ROOM)
            yield listener
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def writing(log: EventLog) -> AsyncIterator[Writer]:
    writer = Writer(log, ROOM)
    task = asyncio.create_task(writer.run())
    try:
        await until(lambda: len(writer.places) > 5)
        yield writer
    finally:
        writer.stopped = True
        await asyncio.wait_for(task, 20)


async def both_ways(group: Group, log: EventLog, url: str, move: Move) -> None:
    """A room writes, and another server hears it, while its slot goes away and comes back."""
    async with listening(url) as listener, writing(log) as writer:
        for _ in range(2):
            source = await asyncio.to_thread(primary_of, group, SLOT)
            target = next(each for each in group.primaries if each is not source)
            reads = listener.told_to_read()
            await asyncio.to_thread(move, group, SLOT, source, target)
            await listener.until_heard_again(reads, writer)
    await check(log, [writer])
    assert len(await whole(log)) > 10


@ON_A_CLUSTER
async def test_a_slot_moves_while_its_room_writes_and_is_heard(log: EventLog, group: Group) -> None:
    await both_ways(group, log, group.url, move_slot)


@pytest.fixture(params=["valkey", "guarded"])
def other_cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Group, Move]]:
    """Of Valkey, which moves slots by itself; and by TLS for a user with few rights."""
    is_valkey = request.param == "valkey"
    made = cluster_of if is_valkey else guarded_cluster_of
    with made("valkey" if is_valkey else "redis", tmp_path / "several") as group:
        yield group, migrate_slot if is_valkey else move_slot


async def test_slots_move_as_each_engine_does_it(other_cluster: tuple[Group, Move]) -> None:
    group, move = other_cluster
    async with EventLog(group.url) as log:
        await both_ways(group, log, group.url, move)


@ON_A_CLUSTER
@pytest.mark.parametrize("harm", [Engine.kill, Engine.pause], ids=["killed", "paused"])
async def test_a_shard_is_heard_at_its_new_primary(
    log: EventLog, group: Group, harm: Callable[[Engine], None]
) -> None:
    harmed = await asyncio.to_thread(primary_of, group, SLOT)
    try:
        async with listening(group.url) as listener, writing(log) as writer:
            reads = listener.told_to_read()
            harm(harmed)
            await until(lambda: Missed(is_broken=True) in listener.heard)
            await listener.until_heard_again(reads, writer)
    finally:
        if harmed.is_running:
            harmed.resume()
        await group.whole()


@ON_A_CLUSTER
async def test_only_shards_with_open_rooms_are_heard(log: EventLog, group: Group) -> None:
    keys = room_keys(ROOM).shard
    primary = await asyncio.to_thread(primary_of, group, SLOT)

    def listeners() -> list[int]:
        return list(primary.ask("PUBSUB", "SHARDNUMSUB", keys.wake, keys.said)[1::2])

    async with listening(group.url) as listener:
        assert await asyncio.to_thread(listeners) == [1, 1]
        (place,) = await grow(log, 1)
        await until(lambda: listener.seqs() == [1])
        listener.log.heed_only([])
        await until(lambda: listeners() == [0, 0])
        # A room that is opened again is read after it is heard.
        await listener.log.heed(ROOM)
        assert await asyncio.to_thread(listeners) == [1, 1]
        await grow(log, 1, place)
        await until(lambda: listener.seqs() == [1, 2])


async def test_nobody_hears_of_an_entry_before_a_replica_has_it(
    log: EventLog, group: Group
) -> None:
    replicas = [each for each in group.engines if not each.is_primary]
    place, *_ = await grow(log, 1)
    url = f"{group.url}?wait=1"
    async with listening(url) as listener, EventLog(url, "careful") as careful:
        wanted = attempt(place, is_move=True)
        for each in replicas:
            each.pause()
        try:
            with pytest.raises(StoreError, match="too few replicas"):
                await careful.append(wanted)
            assert len(await whole(log)) == 2
            # Who reads it must not show it either.
            with pytest.raises(StoreError, match="too few replicas"):
                await listener.log.read(ROOM, place)
            assert listener.seqs() == []
        finally:
            for each in replicas:
                each.resume()
        while True:
            try:
                assert await careful.append(wanted) == Appended(2)
                break
            except StoreError:
                continue
        await until(lambda: listener.seqs() == [2])
        later = attempt(wanted.entry.point)
        place_after(later, await careful.append(later))
        await until(lambda: listener.seqs() == [2, 3])
