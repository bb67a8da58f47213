"""How long it takes to have many rooms in memory again after a restart.

500 rooms of 200 commits each are written to a real engine, which is then started anew. Beside the
server's own loading (read, check every link, decode, fold, keep what resuming needs) stands the
least that any reader has to do: get the entries with the store's ordinary client and decode the
events, nothing else. Two more ways tell what that client costs, and what checking the links does.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TypeAlias

import msgspec
import uvloop

from tests.eventlog.logs import written
from tests.programs.bench.report import Figure, span
from tests.programs.bench.seeded_logs import SeededLog, by_caution
from tests.programs.bench.usage import cores, pin, refuse_other_systems
from towerhall_server.cli.progress import progress
from towerhall_server.eventlog.answers import Following
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import discover
from towerhall_server.live.follower import TTL_MS
from towerhall_server.live.loading import load
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.room.commits import decode_commit
from towerhall_server.room.events import Settings
from towerhall_server.store.batch import Batch, Call
from towerhall_server.store.check import connect
from towerhall_server.store.connection import Connection
from towerhall_server.store.engine import start_engine
from towerhall_server.store.resp import packed

ROOMS, COMMITS = 500, 200
HESITATIONS = 30
"""Commits before the start of the game, so that no game is over too early."""
REPEATS = 5
SEED = 5
BAR = 3.0

Way: TypeAlias = Callable[[str, list[str]], Awaitable[int]]
"""(url of the store, codes of the rooms): how many commits were read."""


class Times(msgspec.Struct, frozen=True):
    """One repeat of one way, in seconds."""

    wall: float
    cpu: float


def measure(rooms: int = ROOMS, repeats: int = REPEATS) -> list[Figure]:
    """Loading as a multiple of reading and decoding, in one process and from one engine."""
    refuse_other_systems()
    logs = [_written(number) for number in progress(range(rooms), rooms, "logs of rooms")]
    with _on_one_core():
        found = uvloop.run(_measure(logs, repeats))
    replay, checked, bare, thin = (found[way] for way in WAYS)
    pairs = list(zip(replay, bare, strict=True))
    ratios = [ours.wall / least.wall for ours, least in pairs]
    cpu_ratios = [ours.cpu / least.cpu for ours, least in pairs]
    thins = [ours.wall / least.wall for ours, least in zip(replay, thin, strict=True)]
    checks = [ours.wall / read.wall for ours, read in zip(replay, checked, strict=True)]
    seconds = median(times.wall for times in replay)
    note = f"{rooms} rooms x {COMMITS} commits; read and decode {_seconds(bare):.2f} s"
    return [
        Figure("replay against read and decode", median(ratios), "x", BAR, note=span(ratios)),
        Figure("  the same, CPU of this process", median(cpu_ratios), "x", note=span(cpu_ratios)),
        Figure("  against a thin read and decode", median(thins), "x", note=span(thins)),
        Figure("  against a read that checks links", median(checks), "x", note=span(checks)),
        Figure("  replay of all", seconds, "s", note=note),
        Figure("  replay of one commit", seconds / rooms / COMMITS * 1e6, "us"),
    ]


def _seconds(repeats: list[Times]) -> float:
    return median(times.wall for times in repeats)


def _written(number: int) -> SeededLog:
    log = SeededLog(SEED, number, Settings())
    log.sit_and_start(HESITATIONS)
    log.play_on(by_caution, COMMITS)
    if len(log.commits) != COMMITS:
        raise RuntimeError(f"game {number} is over after {len(log.commits)} commits")
    return log


async def _measure(logs: list[SeededLog], repeats: int) -> dict[Way, list[Times]]:
    with TemporaryDirectory() as folder:
        engine = await start_engine(Path(folder))
        try:
            async with EventLog(engine.url) as log:
                await _fill(log, logs)
            await engine.restart()
            assert engine.pid is not None
            pin(engine.pid, cores()[1])
            codes = [log.code for log in logs]
            found: dict[Way, list[Times]] = {way: [] for way in WAYS}
            for number in progress(range(repeats), repeats, "replay"):
                for way in Random(number).sample(WAYS, len(WAYS)):
                    found[way].append(await _timed(way, engine.url, codes))
            return found
        finally:
            await engine.stop()


async def _timed(way: Way, url: str, codes: list[str]) -> Times:
    before = perf_counter(), process_time()
    commits = await way(url, codes)
    after = perf_counter(), process_time()
    if commits != len(codes) * COMMITS:
        raise RuntimeError(f"{commits} commits were read instead of {len(codes) * COMMITS}")
    return Times(after[0] - before[0], after[1] - before[1])


async def _replay(url: str, codes: list[str]) -> int:
    async with EventLog(url) as log:
        node = Node("bench", log, ServiceClock(), discover())
        replicas = await asyncio.gather(*(load(node, code) for code in codes))
        return sum(replica.point.seq for replica in replicas if replica is not None)


async def _checked_read(url: str, codes: list[str]) -> int:
    """The log's own read, without folding."""
    rules = discover()["five_towers"]

    async def read(code: str) -> int:
        reading = await log.read(code)
        assert isinstance(reading, Following)
        return len([decode_commit(entry.blob, rules) for entry in reading.entries])

    async with EventLog(url) as log:
        return sum(await asyncio.gather(*map(read, codes)))


async def _read_and_decode(url: str, codes: list[str]) -> int:
    """The store's ordinary client and its XRANGE, all rooms in one pipeline."""
    rules = discover()["five_towers"]
    async with connect(url) as redis:
        pipeline = redis.pipeline(transaction=False)
        for code in codes:
            pipeline.xrange(room_keys(code).log)
        found = await pipeline.execute()
    return sum(len([decode_commit(e[b"b"], rules) for _, e in entries]) for entries in found)


async def _thin_read_and_decode(url: str, codes: list[str]) -> int:
    """The same over the server's own thin connection: not even dictionaries are made."""
    batch = Batch(Connection(url))
    rules = discover()["five_towers"]

    async def read(code: str) -> int:
        found = await batch.call(Call(packed("XRANGE", room_keys(code).log, "-", "+")))
        blobs = [fields[fields.index(b"b") + 1] for _, fields in found]
        return len([decode_commit(blob, rules) for blob in blobs])

    try:
        return sum(await asyncio.gather(*map(read, codes)))
    finally:
        await batch.close()


WAYS: list[Way] = [_replay, _checked_read, _read_and_decode, _thin_read_and_decode]


async def _fill(log: EventLog, logs: list[SeededLog]) -> None:
    """Commit by commit, all rooms at once, as a busy server would."""
    for room in logs:
        await log.keep_secret(room.code, room.secret, TTL_MS)
    places = [START] * len(logs)
    for seq in progress(range(COMMITS), COMMITS, "filling the store"):
        appends = (_append(log, room, seq, places[n]) for n, room in enumerate(logs))
        places = list(await asyncio.gather(*appends))


async def _append(log: EventLog, room: SeededLog, index: int, before: Point) -> Point:
    """It gets the time of now, so the chain is not the one that was made before."""
    entry = room.commits[index].entry
    new = await written(log, room.code, before, entry.commit_id, entry.blob, ttl_ms=TTL_MS)
    return new.point


@contextmanager
def _on_one_core() -> Iterator[None]:
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cores()[0]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)
