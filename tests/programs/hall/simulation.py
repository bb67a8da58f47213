"""The simulation: many rooms in a real store, one server on a watched loop, people who look.

Each room is a real log of one commit, with a deadline and an entry in the lobby. Some deadlines
come during the run: their rooms are woken. Some entries change all the time. People look at pages
under different filters, and others come with a filter of their own.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from time import monotonic, thread_time
from typing import Final

import msgspec

from tests.programs.bench.usage import rss_bytes
from tests.programs.hall.watched_loop import Stalls, WatchedLoop, watched_callbacks
from towerhall_protocol.fairness import SECRET_BYTES, UID_BYTES
from towerhall_protocol.lobby import MOST_SHOWN, Filter
from towerhall_server.eventlog.answers import Append, Appended
from towerhall_server.eventlog.entry import START, entry_after
from towerhall_server.eventlog.keys import LOBBY, room_keys, shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import listen
from towerhall_server.frames import Prepared
from towerhall_server.game import discover
from towerhall_server.live.directory import Directory, new_code
from towerhall_server.live.follower import TTL_MS
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.lobby.board import Board
from towerhall_server.process.garbage import sweep
from towerhall_server.room import steps
from towerhall_server.room.aliases import SALT_BYTES
from towerhall_server.room.commits import encode_commit
from towerhall_server.room.events import Settings
from towerhall_server.room.steps import Plan
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import packed

LIMIT_SECONDS: Final = 0.02
"""The longest time for which the loop may stand still."""
AT_ONCE: Final = 200
LATER_MS: Final = 3_600_000
CHANGE_SECONDS: Final = 0.02
COME_SECONDS: Final = 0.05


class Wanted(msgspec.Struct, frozen=True):
    """What is simulated."""

    rooms: int = 100_000
    seconds: float = 30.0
    wakes: int = 2_000
    """Rooms whose deadlines come during the run."""
    changes: int = 500
    """Entries of the lobby that change in a second."""
    viewers: int = 300
    pages: int = 30
    """Different filters of these viewers."""


class Found(msgspec.Struct, frozen=True):
    """What came of it. Times are of the processor, if they do not say otherwise."""

    rooms: int
    listed: int
    read_seconds: float
    """Wall time until the whole list was known."""
    filter_seconds: float
    """The longest time in which a new filter got its page."""
    ended: int
    """Rooms that were woken, and ended because nobody was there."""
    patches: int
    stalls: Stalls
    cpu_seconds: float
    wall_seconds: float
    megabytes: float


class Viewer:
    """Looks at a page, and minds its messages as a connection does: their bytes are written."""

    def __init__(self) -> None:
        self.patches = self.bytes = 0

    def send(self, *messages: Prepared) -> None:
        self.patches += len(messages)
        self.bytes += sum(len(each.binary) for each in messages)

    def close(self, reason: str) -> None:
        pass


def summary_of(code: str, random: Random) -> bytes:
    """An entry of the lobby. A tenth of all rooms waits for players."""
    status = "waiting" if random.random() < 0.1 else "playing"
    taken = random.randrange(4) if status == "waiting" else 4
    names = [f"Player {random.randrange(10_000)}" for _ in range(taken)]
    game = random.choice(("five_towers", "nikitin_towers"))
    entry = {"code": code, "game": game, "status": status, "seats": 4, "taken": taken}
    return json.dumps(entry | {"names": names, "turn_seconds": 30}).encode()


async def populate(log: EventLog, wanted: Wanted, random: Random) -> tuple[list[str], list[str]]:
    """Fill the store with rooms. Returns those whose deadlines come soon, and the others."""
    rules = discover()["five_towers"]
    plan = Plan(rules, rules.presets["standard"], 4, Settings(), "host of all")
    beats = await log.beat_all()
    soon: list[str] = []
    later: list[str] = []

    async def add(number: int) -> None:
        code, kept = new_code(), os.urandom(SECRET_BYTES + SALT_BYTES)
        step = steps.found(plan, code, os.urandom(UID_BYTES), kept)
        now = (await log.beat(shard_of(code))).now if number % AT_ONCE == 0 else None
        stamps = now or beats[shard_of(code)].now
        is_woken = number < wanted.wakes
        # After the shards' clocks of a run that begins when all rooms are there.
        wait_ms = 1000 * wanted.seconds * random.random() if is_woken else LATER_MS
        await log.keep_secret(code, kept, TTL_MS)
        entry = entry_after(START, stamps, os.urandom(16), encode_commit(step.commit))
        append = Append(
            mode="create",
            room=code,
            before=START,
            entry=entry,
            ttl_ms=TTL_MS,
            due_at_ms=round(stamps.served_ms + LATER_MS + wait_ms),
            summary=summary_of(code, random),
        )
        if isinstance(await log.append(append), Appended):
            (soon if is_woken else later).append(code)

    for first in range(0, wanted.rooms, AT_ONCE):
        beats |= await log.beat_all()
        await asyncio.gather(*map(add, range(first, min(first + AT_ONCE, wanted.rooms))))
    # From here on the first deadlines are near.
    beats = await log.beat_all()
    await log.advance({shard: beat.now.served_ms + LATER_MS for shard, beat in beats.items()})
    return soon, later


@asynccontextmanager
async def serving(url: str) -> AsyncIterator[tuple[Board, Directory]]:
    """The parts of a server that know of rooms which are not open, as `app.service` joins them."""
    async with EventLog(url, "hall") as log:
        directory = Directory(Node("hall", log, ServiceClock(), discover()))
        board = Board(log)
        await directory.beat_once()
        sweeping = asyncio.create_task(sweep())
        # Its first step, which freezes all that was made so far, comes before a server serves; the
        # round with that step has to be over.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks = [
            sweeping,
            asyncio.create_task(directory.beat()),
            asyncio.create_task(directory.listen(lambda: board.tapped(listen(url, "hall")))),
            asyncio.create_task(board.run()),
        ]
        try:
            yield board, directory
        finally:
            board.close("restart")
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await directory.close("restart")


async def change(log: EventLog, codes: list[str], wanted: Wanted, random: Random) -> None:
    """Change entries of the lobby, as the scripts do that append."""
    while True:
        for _ in range(round(wanted.changes * CHANGE_SECONDS)):
            code = random.choice(codes)
            entry = summary_of(code, random)
            changes = (
                packed("HSET", room_keys(code).shard.lobby, code, entry),
                packed("PUBLISH", LOBBY, f"{code} ".encode() + entry),
            )
            for command in changes:
                log.call(Call(command)).add_done_callback(lambda done: done.cancelled() or None)
        await asyncio.sleep(CHANGE_SECONDS)


def filter_of(number: int, random: Random, codes: list[str]) -> Filter:
    """Every other page is one in the middle of the list."""
    after = f"{random.randrange(2)}{random.choice(codes)}" if number % 2 else ""
    game = ("", "five_towers", "nikitin_towers")[number % 3]
    return Filter(game, "", number % 4, after, MOST_SHOWN if number % 5 == 0 else 50)


async def come_and_go(board: Board, codes: list[str], random: Random, took: list[float]) -> None:
    """Viewers with filters that nobody else has."""
    number = 0
    while True:
        viewer, began = Viewer(), thread_time()
        board.add(viewer, filter_of(number := number + 1, random, codes))
        took.append(thread_time() - began)
        await asyncio.sleep(COME_SECONDS)
        board.remove(viewer)


async def length(board: Board) -> int:
    """Return the number of all listed rooms."""
    page = await board.page(Filter(limit=1))
    more, rooms = page.get("more", 0), page["rooms"]
    assert isinstance(more, int)
    assert isinstance(rooms, dict)
    return len(rooms) + more


async def _simulate(
    url: str, wanted: Wanted, soon: list[str], later: list[str], loop: WatchedLoop
) -> Found:
    random = Random(wanted.rooms)
    cpu, began = thread_time(), monotonic()
    async with serving(url) as (board, directory):
        loop.stalls = Stalls()
        await board.ready()
        read_seconds, listed = monotonic() - began, await length(board)
        pages = [filter_of(number, random, later) for number in range(wanted.pages)]
        viewers = [Viewer() for _ in range(wanted.viewers)]
        for number, viewer in enumerate(viewers):
            board.add(viewer, pages[number % len(pages)])
            await asyncio.sleep(0)
        took: list[float] = []
        tasks = [
            asyncio.create_task(change(directory.node.log, later, wanted, random)),
            asyncio.create_task(come_and_go(board, later, random, took)),
        ]
        await asyncio.sleep(wanted.seconds)
        # The woken rooms found that nobody had come, and ended.
        ended = listed - await length(board)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # The end of the server is no part of it.
        stalls, loop.stalls = loop.stalls, Stalls()
        return Found(
            rooms=len(soon) + len(later),
            listed=listed,
            read_seconds=read_seconds,
            filter_seconds=max(took),
            ended=ended,
            patches=sum(viewer.patches for viewer in viewers),
            stalls=stalls,
            cpu_seconds=thread_time() - cpu,
            wall_seconds=monotonic() - began,
            megabytes=rss_bytes(os.getpid()) / 1e6,
        )


def simulate(url: str, wanted: Wanted) -> Found:
    """Fill the store at this url, and run a server on it."""
    random = Random(wanted.seconds)

    async def fill() -> tuple[list[str], list[str]]:
        async with EventLog(url, "filler") as log:
            return await populate(log, wanted, random)

    soon, later = asyncio.run(fill())
    loop = WatchedLoop(LIMIT_SECONDS)
    with asyncio.Runner(loop_factory=lambda: loop) as runner, watched_callbacks(loop):
        return runner.run(_simulate(url, wanted, soon, later, loop))
