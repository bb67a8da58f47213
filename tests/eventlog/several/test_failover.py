"""Primaries that are killed or paused while rooms write: no commit is lost, doubled or forked, and
other primaries go on."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from time import monotonic
from typing import Final

import pytest

from tests.eventlog.logs import attempt
from tests.store import several
from tests.store.several import Engine, Group
from towerhall_server.eventlog.answers import Answer, Append, Appended, Following, Mistimed
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.keys import SHARDS, room_keys
from towerhall_server.eventlog.lobby import COMING, Expected, LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import Missed, Woken
from towerhall_server.store.errors import StoreError
from towerhall_server.store.slots import slot_of

ROOMS: Final = tuple(f"ROOM{letter}" for letter in "ABCDEFGH")
SOON_SECONDS: Final = 20.0
ON_A_CLUSTER = pytest.mark.parametrize("group", ["cluster"], indirect=True)


@pytest.fixture
async def healthy(group: Group, log: EventLog) -> AsyncIterator[Group]:
    yield group
    await group.whole()


class Writer:
    """Appends to one room until it is told to stop, as a room does: the same bytes again and again
    while the outcome is unknown."""

    def __init__(self, log: EventLog, room: str) -> None:
        self.log = log
        self.room = room
        self.places: list[Point] = []
        self.unknown = 0
        self.longest = 0.0
        self.stopped = False

    async def run(self) -> None:
        before = START
        while not self.stopped:
            wanted = attempt(before, room=self.room)
            began = monotonic()
            answer = await self._insist(wanted)
            if isinstance(answer, Mistimed):
                wanted = attempt(before, room=self.room, stamps=answer.now)
                answer = await self._insist(wanted)
            self.longest = max(self.longest, monotonic() - began)
            assert answer == Appended(before.seq + 1), (self.room, answer)
            before = wanted.entry.point
            self.places.append(before)

    async def _insist(self, wanted: Append) -> Answer:
        while True:
            try:
                return await self.log.append(wanted)
            except StoreError:
                self.unknown += 1
                await asyncio.sleep(0.05)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON_SECONDS):
        while not condition():  # noqa: ASYNC110 - states of processes
            await asyncio.sleep(0.01)


async def play(log: EventLog, group: Group, harm: Callable[[Engine], None]) -> list[Writer]:
    """Rooms write, the primary of the first room is harmed, and every room goes on."""
    writers = [Writer(log, room) for room in ROOMS]
    tasks = [asyncio.create_task(writer.run()) for writer in writers]
    try:
        await until(lambda: all(len(writer.places) > 5 for writer in writers))
        harm(await asyncio.to_thread(primary_of, group, ROOMS[0]))
        await until(lambda: writers[0].unknown > 0)
        before = [len(writer.places) for writer in writers]
        await until(
            lambda: all(len(w.places) > n + 5 for w, n in zip(writers, before, strict=True))
        )
    finally:
        for writer in writers:
            writer.stopped = True
        await asyncio.wait_for(asyncio.gather(*tasks), SOON_SECONDS)
    return writers


def primary_of(group: Group, room: str) -> Engine:
    if len(primaries := group.primaries) == 1:
        return primaries[0]
    return several.primary_of(group, slot_of_room(room))


def slot_of_room(room: str) -> int:
    return slot_of(room_keys(room).log.encode())


async def check(log: EventLog, writers: list[Writer]) -> None:
    """Replicas were in step but for the calls under way, so all that was acknowledged is there."""
    for writer in writers:
        reading = await log.read(writer.room, page=100_000)
        assert isinstance(reading, Following)
        assert [entry.point for entry in reading.entries] == writer.places


async def test_a_killed_primary_is_replaced_and_rooms_go_on(log: EventLog, healthy: Group) -> None:
    writers = await play(log, healthy, Engine.kill)
    await check(log, writers)
    if not healthy.others:
        # Rooms of the other primaries did not wait.
        assert min(writer.longest for writer in writers) < writers[0].longest
        assert any(not writer.unknown for writer in writers)
    assert set(await log.beat_all()) == set(range(SHARDS))


async def test_a_paused_primary_is_replaced_and_cannot_fork_a_log(
    log: EventLog, healthy: Group
) -> None:
    paused: list[Engine] = []

    def pause(engine: Engine) -> None:
        paused.append(engine)
        engine.pause()

    try:
        writers = await play(log, healthy, pause)
    finally:
        paused[0].resume()
    await check(log, writers)


@ON_A_CLUSTER
async def test_shards_of_other_primaries_beat_while_one_is_silent(
    log: EventLog, healthy: Group
) -> None:
    await log.beat_all()
    harmed = healthy.primaries[0]
    harmed.pause()
    try:
        began = monotonic()
        beats = await log.beat_all()
        assert monotonic() - began < 1.5
        assert SHARDS / 2 < len(beats) < SHARDS
        await log.summaries()
        assert monotonic() - began < 2.5
    finally:
        harmed.resume()


async def test_a_listener_finds_the_new_primary(log: EventLog, healthy: Group) -> None:
    heard: list[str] = []
    me = EventLog(healthy.url, "me")

    async def hear() -> None:
        while True:
            try:
                async with aclosing(me.news()) as wakes:
                    async for wake in wakes:
                        if isinstance(wake, Woken | Missed):
                            heard.append(getattr(wake, "room", ""))
            except StoreError:
                await asyncio.sleep(0.05)

    listener = asyncio.create_task(hear())
    try:
        await until(lambda: bool(heard))
        await me.heed("LATER")
        await play(log, healthy, Engine.kill)
        heard.clear()
        writer = Writer(log, "LATER")
        writing = asyncio.create_task(writer.run())
        try:
            await until(lambda: "LATER" in heard)
        finally:
            writer.stopped = True
            await writing
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)
        await me.close()


@ON_A_CLUSTER
async def test_it_is_known_which_rooms_have_to_wait_and_seats_are_given_in_others(
    log: EventLog, healthy: Group
) -> None:
    await log.beat_all()
    assert not any(map(log.is_down, ROOMS))
    slot = slot_of(COMING.encode())
    harmed = await asyncio.to_thread(several.primary_of, healthy, slot)
    elsewhere = [room for room in ROOMS if primary_of(healthy, room) is not harmed]
    here, *_ = set(ROOMS) - set(elsewhere)
    harmed.pause()
    try:
        await log.beat_all()
        assert elsewhere
        # Silence makes all of them doubtful, until each has answered a ping.
        await until(lambda: log.is_down(here) and not any(map(log.is_down, elsewhere)))
        began = monotonic()
        await LobbyStore(log).expect(Expected(elsewhere[0], "ada"), 1000)
        assert monotonic() - began < 1
        await until(lambda: not log.is_down(here))
    finally:
        harmed.resume()
