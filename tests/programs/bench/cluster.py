"""What a cluster of three primaries costs beside one engine: CPU of this process, and of engines.

Rooms append as in `appends`, on both stores by turns, so that other work of the machine meets both.
The same rooms on three primaries travel in smaller batches. What three primaries carry is measured
with three times the rooms: each of them then has what the one engine had.
"""

import asyncio
from collections.abc import Sequence
from os import urandom
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Final

import msgspec
import uvloop

from tests.eventlog.logs import written
from tests.programs.bench.appends import BLOB, TTL_MS, play
from tests.programs.bench.report import Figure
from tests.programs.bench.usage import cpu_seconds
from tests.store.several import SHARDS, USUAL, Engine, cluster_of, flags_of, together
from towerhall_server.cli.progress import progress
from towerhall_server.eventlog.entry import COMMIT_ID_BYTES, START, Point
from towerhall_server.eventlog.log import EventLog

ROOMS = 200
ROUNDS = 20
STRETCHES = 15
KIND: Final = "valkey"
"""The engine that servers bring along."""


class Load(msgspec.Struct):
    """Rooms on a store, and what each stretch of their moves has cost."""

    log: EventLog
    engines: Sequence[Engine]
    rooms: dict[str, Point]
    here_us: list[float] = []
    """CPU of this process, per move."""
    there_us: list[float] = []
    """CPU of all engines together, per move."""

    async def stretch(self) -> None:
        here, there = process_time(), self._engine_seconds()
        await play(self.log, self.rooms, ROUNDS)
        moves = len(self.rooms) * ROUNDS
        self.here_us.append((process_time() - here) / moves * 1e6)
        self.there_us.append((self._engine_seconds() - there) / moves * 1e6)

    def _engine_seconds(self) -> float:
        return sum(cpu_seconds(each.pid) for each in self.engines)


def measure() -> list[Figure]:
    """CPU of a move on one engine, and on three primaries."""
    with TemporaryDirectory() as folder:
        one = Engine(KIND, Path(folder) / "one", *flags_of(USUAL))
        with (
            together([one]),
            cluster_of(KIND, Path(folder) / "cluster", replicas=0) as group,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            return runner.run(_measure(one, group.engines, group.url))


async def _measure(one: Engine, engines: Sequence[Engine], cluster_url: str) -> list[Figure]:
    url = f"redis://{one.place[0]}:{one.place[1]}"
    async with EventLog(url) as log, EventLog(cluster_url) as on_cluster:
        single = Load(log, [one], await _begun(log, ROOMS))
        same = Load(on_cluster, engines, await _begun(on_cluster, ROOMS))
        full = Load(on_cluster, engines, await _begun(on_cluster, SHARDS * ROOMS))
        loads = single, same, full
        for _ in progress(range(STRETCHES), STRETCHES, "one engine and three primaries"):
            for load in loads:
                await load.stretch()
    here, there = median(single.here_us), median(single.there_us)
    return [
        Figure("move on one engine, this process", here, "us", note=f"{ROOMS} rooms"),
        Figure("move on one engine, engine", there, "us"),
        Figure("move on three primaries, this process", median(same.here_us), "us"),
        Figure("move on three primaries, engines", median(same.there_us), "us"),
        Figure("the same with three times the rooms, engines", median(full.there_us), "us"),
        Figure(
            "this process, times that of one engine", median(same.here_us) / here, "", at_most=1.3
        ),
        Figure("engines, times one engine", median(same.there_us) / there, "", at_most=1.5),
        Figure(
            "moves that three primaries carry, times one engine",
            SHARDS * there / median(full.there_us),
            "",
            at_least=2.5,
            note=f"{SHARDS * ROOMS} rooms, by CPU of engines",
        ),
    ]


async def _begun(log: EventLog, rooms: int) -> dict[str, Point]:
    """New rooms, each with its place in the log. One by one: their stamps must be new."""
    begun = {}
    for _ in range(rooms):
        room = urandom(4).hex()
        entry = await written(log, room, START, urandom(COMMIT_ID_BYTES), BLOB, ttl_ms=TTL_MS)
        begun[room] = entry.point
    return begun
