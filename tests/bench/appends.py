"""What it costs to append: this process's CPU and the engine's, for rooms that act together.

Each round appends one commit to every room at once, as one loop tick of a busy server does. Beside
it the same number of appends goes one by one. The engine makes every commit durable (fsync always).
"""

import asyncio
from collections.abc import Awaitable
from os import urandom
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from redis.asyncio import Redis

from tests.bench.report import Figure
from towerhall_server.cli.progress import progress
from towerhall_server.eventlog.embedded import start_engine
from towerhall_server.eventlog.entry import COMMIT_ID_BYTES, START, Point, link
from towerhall_server.eventlog.log import Append, Appended, EventLog
from towerhall_server.eventlog.store import connect

import os, uvloop
LF=uvloop.new_event_loop if os.environ.get('UV') else None
ROOMS = 200
ROUNDS = 50
ONE_BY_ONE = 1000
BLOB = b"x" * 60
TTL_MS = 3_600_000


def measure() -> list[Figure]:
    """Microseconds of CPU per append, in batches and alone."""
    with asyncio.Runner(loop_factory=LF) as r:
        return r.run(_measure())


async def _measure() -> list[Figure]:
    with TemporaryDirectory() as folder:
        engine = await start_engine(Path(folder))
        try:
            async with connect(engine.url) as redis, EventLog(engine.url) as log:
                places = dict.fromkeys((f"ROOM{number}" for number in range(ROOMS)), START)
                await _round(log, places)
                together = await _timed(redis, _rounds(log, places), ROOMS * ROUNDS)
                alone = await _timed(redis, _one_by_one(log, places), ONE_BY_ONE)
        finally:
            await engine.stop()
    return [
        Figure("append in a batch, this process", together[0], "us", note=f"{ROOMS} rooms a batch"),
        Figure("append in a batch, engine", together[1], "us"),
        Figure("append alone, this process", alone[0], "us"),
        Figure("append alone, engine", alone[1], "us"),
        Figure("batch against alone, this process", alone[0] / together[0], "x"),
        Figure("durable appends in batches", 1e6 / together[2], "1/s", note="wall clock"),
    ]


async def _timed(redis: Redis, work: Awaitable[None], appends: int) -> list[float]:
    """CPU of this process, CPU of the engine, and wall time, in microseconds per append."""
    before = (process_time(), await _engine_cpu(redis), perf_counter())
    await work
    after = (process_time(), await _engine_cpu(redis), perf_counter())
    return [(late - early) / appends * 1e6 for early, late in zip(before, after, strict=True)]


async def _engine_cpu(redis: Redis) -> float:
    info = await redis.info("cpu")
    return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])


async def _rounds(log: EventLog, places: dict[str, Point]) -> None:
    for _ in progress(range(ROUNDS), ROUNDS, "appends in batches"):
        await _round(log, places)


async def _round(log: EventLog, places: dict[str, Point]) -> None:
    await asyncio.gather(*(_append(log, places, room) for room in places))


async def _one_by_one(log: EventLog, places: dict[str, Point]) -> None:
    room = next(iter(places))
    for _ in progress(range(ONE_BY_ONE), ONE_BY_ONE, "appends alone"):
        await _append(log, places, room)


async def _append(log: EventLog, places: dict[str, Point], room: str) -> None:
    before = places[room]
    commit_id = urandom(COMMIT_ID_BYTES)
    chain = link(before, commit_id, BLOB)
    answer = await log.append(
        Append(
            mode="append" if before.seq else "create",
            room=room,
            before=before,
            commit_id=commit_id,
            chain=chain,
            blob=BLOB,
            ttl_ms=TTL_MS,
            origin="identity/origin",
            n=before.seq + 1,
            due_in_ms=30_000,
        )
    )
    if not isinstance(answer, Appended):
        raise TypeError(f"the append was answered by {answer}")
    places[room] = Point(answer.seq, chain, answer.stamps)
