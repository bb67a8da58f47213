"""What it costs to append and to hear of it: CPU of this process, and of the engine.

Rooms act as tasks of their own, each as soon as it has its answer, as actors of a busy server do:
their appends then travel in batches. Beside it one room acts alone. The loop is the server's. What
a caller does for an append anyway (a commit id, a link of the chain, a task that wakes) is counted
as part of it, and also measured by itself, with a log that says yes at once. The engine makes every
commit durable (fsync always).
"""

import asyncio
from collections.abc import Awaitable
from contextlib import aclosing
from os import urandom
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Protocol

import msgpack
import uvloop
from redis.asyncio import Redis

from tests.eventlog.logs import stamps_now
from tests.programs.bench.report import Figure
from towerhall_protocol.statements import CHAIN_BYTES
from towerhall_server.cli.progress import progress
from towerhall_server.eventlog.answers import Answer, Append, Appended
from towerhall_server.eventlog.entry import COMMIT_ID_BYTES, START, Point, entry_after
from towerhall_server.eventlog.keys import shard_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import listen
from towerhall_server.store.check import connect
from towerhall_server.store.engine import start_engine

ROOMS = 200
STRETCHES = 15
"""Measured one after the other; the median counts, for a machine has other things to do as well."""
ROUNDS = 20
ONE_BY_ONE = 60
WAKES = 1000
BLOB = b"x" * 60
TTL_MS = 3_600_000
DUE_MS = 1 << 42


class Log(Protocol):
    """What an append needs of a log."""

    async def append(self, wanted: Append) -> Answer: ...


class Yes:
    """A log that says yes to all appends of a tick in the next one."""

    def __init__(self) -> None:
        self._asked: list[asyncio.Future[None]] = []

    async def append(self, wanted: Append) -> Answer:
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_soon(self._answer)
        answer: asyncio.Future[None] = loop.create_future()
        self._asked.append(answer)
        await answer
        return Appended(wanted.entry.seq)

    def _answer(self) -> None:
        asked, self._asked = self._asked, []
        for answer in asked:
            answer.set_result(None)


def measure() -> list[Figure]:
    """Microseconds of CPU per append, in batches and alone, and per wake-up."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure())


async def _measure() -> list[Figure]:
    with TemporaryDirectory() as folder:
        engine = await start_engine(Path(folder))
        try:
            async with connect(engine.url) as redis, EventLog(engine.url) as log:
                together = await _stretches("appends in batches", redis, log, ROOMS, ROUNDS)
                alone = await _stretches("appends alone", redis, log, 1, ONE_BY_ONE)
                callers = await _stretches("no appends", redis, Yes(), ROOMS, ROUNDS)
                wake = await _wake_cost(redis, engine.url)
        finally:
            await engine.stop()
    note = f"{ROOMS} rooms a batch"
    return [
        Figure("append in a batch, this process", together[0], "us", at_most=20, note=note),
        Figure("of that the caller's share", callers[0], "us"),
        Figure("append in a batch, engine", together[1], "us"),
        Figure("append alone, this process", alone[0], "us"),
        Figure("append alone, engine", alone[1], "us"),
        Figure("durable appends in batches", 1e6 / together[2], "1/s", note="wall clock"),
        Figure("to hear of an append", wake, "us", at_most=5, note="this process"),
    ]


async def _stretches(what: str, redis: Redis, log: Log, rooms: int, rounds: int) -> list[float]:
    """Medians of: CPU of this process, CPU of the engine, wall time; in us per append."""
    places = dict.fromkeys((urandom(4).hex() for _ in range(rooms)), START)
    await play(log, places, 1)
    seen = [
        await _timed(redis, play(log, places, rounds), rooms * rounds)
        for _ in progress(range(STRETCHES), STRETCHES, what)
    ]
    return [median(column) for column in zip(*seen, strict=True)]


async def _timed(redis: Redis, work: Awaitable[None], appends: int) -> list[float]:
    engine = await _engine_cpu(redis)
    before = (process_time(), perf_counter())
    await work
    after = (process_time(), perf_counter())
    mine, wall = (late - early for early, late in zip(before, after, strict=True))
    spent = (mine, await _engine_cpu(redis) - engine, wall)
    return [seconds / appends * 1e6 for seconds in spent]


async def _engine_cpu(redis: Redis) -> float:
    info = await redis.info("cpu")
    return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])


async def play(log: Log, places: dict[str, Point], rounds: int) -> None:
    """Append so often in each room."""

    async def room(code: str) -> None:
        for _ in range(rounds):
            await _append(log, places, code)

    await asyncio.gather(*map(room, places))


async def _wake_cost(redis: Redis, url: str) -> float:
    """CPU per message of a listener to whom the engine says many at once."""
    entry = [17, bytes(16), bytes(CHAIN_BYTES), BLOB, 1_700_000_000_000, 60_000]
    message = b"other ABCDEF e" + msgpack.packb(entry, use_bin_type=False)
    repeat = "for _ = 1, tonumber(ARGV[1]) do redis.call('PUBLISH', KEYS[1], ARGV[2]) end"
    costs = []
    async with aclosing(listen(url, "bench")) as wakes:
        await anext(wakes)
        for _ in progress(range(STRETCHES), STRETCHES, "wake-ups"):
            before = process_time()
            await redis.eval(repeat, 1, shard_keys(0).wake, str(WAKES), message)
            for _ in range(WAKES):
                await anext(wakes)
            costs.append((process_time() - before) / WAKES * 1e6)
    return median(costs)


async def _append(log: Log, places: dict[str, Point], room: str) -> None:
    before = places[room]
    stamps = stamps_now(before)
    entry = entry_after(before, stamps, urandom(COMMIT_ID_BYTES), BLOB)
    answer = await log.append(
        Append(
            mode="append" if before.seq else "create",
            room=room,
            before=before,
            entry=entry,
            ttl_ms=TTL_MS,
            due_at_ms=DUE_MS,
            is_move=before.seq > 0,
        )
    )
    if not isinstance(answer, Appended):
        raise TypeError(f"the append was answered by {answer}")
    places[room] = entry.point
