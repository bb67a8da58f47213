"""The load: a process that plays many tables at once, and measures while it does.

It is told what to do by lines of JSON and answers each with one: first a job, answered when all
tables are made, then any number of steps. A step plays on, either as fast as the server answers
(one move under way per room) or at a steady total rate, and ends after a number of moves, of which
the first are not measured. A move is counted, and its time taken, when the frame has arrived at all
four sockets. CPU times are read at the same moments: the server's, the store's and the load's own.

Games that end are followed by those of spare tables, which sit ready; so the number of games under
way stays the same. Before the first step the games are spread over their phases. Making tables is
never part of a measurement.
"""

import asyncio
import gc
import os
import sys
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from random import Random
from threading import Event, Thread
from time import perf_counter, process_time, sleep
from typing import Literal

import msgspec
import uvloop

from tests.programs.bench.arrivals import baseline_tables, begin, towerhall_tables
from tests.programs.bench.peers.tables import boardgame_tables, colyseus_tables
from tests.programs.bench.players import FIVE_TOWERS, Played, Player, Table
from tests.programs.bench.usage import all_cpu_seconds, cpu_seconds, rss_bytes

SPREAD = 100
"""Hardly any game has fewer moves than this, and few have many more."""
OPENING = 10
"""Seq of the deal: made, four sat, four ready, started."""
NEVER = 1 << 30
TICK_SECONDS = 0.001
STALL_SECONDS = 15


Kind = Literal["baseline", "towerhall", "colyseus", "boardgame_io"]
"""Whose protocol the players speak."""


class Step(msgspec.Struct, frozen=True):
    """Play so many moves, and measure all but the first ones."""

    name: str
    moves: int
    warm_up: int
    rate: int = 0
    """Moves per second in all rooms together; 0: as fast as the answers come."""


class Job(msgspec.Struct, frozen=True):
    kind: Kind
    addresses: tuple[str, ...]
    """Of all processes of the server. Tables are dealt out to them in turn."""
    server_pids: tuple[int, ...]
    store_pid: int | None
    rooms: int
    spares: int = 0
    spread: int = SPREAD
    """Games are stopped somewhere in their first so many moves before the first step."""
    mixed: bool = False
    """Neighbours at a table are not at the same process."""
    primer: int = 0
    """Rooms that are there before anything is measured, memory included."""
    seed: int = 1
    command: bytes = b""
    """What a player of the baseline sends."""
    played: Played = FIVE_TOWERS
    """At tables of Towerhall."""


class Window(msgspec.Struct, frozen=True):
    """What was measured in one step."""

    name: str
    moves: int
    seconds: float
    server_cpu: float
    store_cpu: float
    client_cpu: float
    others_cpu: float
    """What everything else on this machine took meanwhile. The kernel tells the whole in ticks, so
    that a short window may seem to leave less than nothing to others: add up before judging."""
    latencies_us: tuple[int, ...]
    """One per move, in ascending order."""
    late_slots: int
    """Slots of a steady rate for which no answer was at hand."""

    @property
    def per_cpu_second(self) -> float:
        return self.moves / self.server_cpu

    def latency_us(self, share: float) -> int:
        return self.latencies_us[int(share * (len(self.latencies_us) - 1))]


class Ready(msgspec.Struct, frozen=True):
    """All tables are made, and their games stopped somewhere."""

    rss_before: int
    """Memory of the server with the primer's rooms only."""
    rss_after: int
    """With all rooms."""
    seconds: float


class _Reading(msgspec.Struct, frozen=True):
    at: float
    server: float
    store: float
    client: float
    everything: float


class Load:
    """All tables, and when their players answer."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._spares: deque[Table] = deque()
        self._waiting: deque[tuple[Player, int, bytes]] = deque()
        self._is_open = False
        self._moves = 0
        self._marks: dict[int, asyncio.Future[_Reading]] = {}
        self._latencies: list[float] = []
        self._late_slots = 0
        self._under_way = 0

    # What tables tell

    def offered(self, player: Player, seq: int, answer: bytes) -> None:
        if self._is_open and seq < player.table.hold_at:
            self._give(player, seq, answer)
        else:
            self._waiting.append((player, seq, answer))

    def completed(self, sent_at: float) -> None:
        self._latencies.append(perf_counter() - sent_at)
        self._under_way -= 1
        self._moves += 1
        mark = self._marks.pop(self._moves, None)
        if mark is not None:
            mark.set_result(self._read())

    def over(self, table: Table) -> None:
        if self._spares:
            spare = self._spares.popleft()
            # A game that is over before it was to be stopped leaves the rest of its way to another.
            spare.hold_at = OPENING + table.hold_at - table.seq
            begin(spare)
        else:
            self.fail("a game ended and there was no spare table: the job needs more of them")

    def fail(self, why: str) -> None:
        """Nothing that is measured after this would mean anything."""
        sys.stderr.write(f"the load has failed: {why}\n")
        sys.stderr.flush()
        os._exit(1)

    # What is wanted

    async def make_tables(self) -> Ready:
        job = self._job
        chance = Random(job.seed)
        began = perf_counter()
        await self._spread(await self._tables(job.primer, -job.seed), chance)
        rss_before = sum(map(rss_bytes, job.server_pids))
        tables = await self._tables(job.rooms + job.spares, job.seed)
        self._spares.extend(tables[job.rooms :])
        await self._spread(tables[: job.rooms], chance)
        rss_after = sum(map(rss_bytes, job.server_pids))
        gc.collect()
        gc.disable()  # pauses of the load are not what is measured
        return Ready(rss_before, rss_after, perf_counter() - began)

    async def _tables(self, count: int, seed: int) -> list[Table]:
        job = self._job
        if job.kind == "baseline":
            return await baseline_tables(self, job.addresses[0], count, job.command)
        if job.kind == "colyseus":
            return await colyseus_tables(self, job.addresses[0], count, seed)
        if job.kind == "boardgame_io":
            return await boardgame_tables(self, job.addresses[0], count, seed)
        return await towerhall_tables(
            self, job.addresses, count, seed, mixed=job.mixed, played=job.played
        )

    async def _spread(self, tables: list[Table], chance: Random) -> None:
        """Start the games and stop each of them somewhere."""
        self._is_open = self._job.kind == "towerhall"
        waiting = len(self._waiting) + len(tables)
        for table in tables:
            table.hold_at = OPENING + int(chance.random() * self._job.spread)
            begin(table)
        await self._until_quiet(waiting)
        self._is_open = False
        for table in tables:
            table.hold_at = NEVER

    async def play(self, step: Step) -> Window:
        self._moves = self._late_slots = 0
        self._latencies.clear()
        loop = asyncio.get_running_loop()
        self._marks = {mark: loop.create_future() for mark in (step.warm_up, step.moves)}
        began, ended = self._marks.values()
        over = Event()
        if step.rate:
            slot = partial(loop.call_soon_threadsafe, self._slot, over)
            Thread(target=_pace, args=(step.rate, slot, over), daemon=True).start()
        else:
            self._is_open = True
            for _ in range(len(self._waiting)):
                self._give(*self._waiting.popleft())
        watch = asyncio.ensure_future(self._watch())
        start, end = await began, await ended
        watch.cancel()
        moves = step.moves - step.warm_up
        latencies = sorted(self._latencies[step.warm_up : step.moves])
        self._is_open = False
        over.set()
        await self._until_quiet(0)
        server, store = end.server - start.server, end.store - start.store
        client, everything = end.client - start.client, end.everything - start.everything
        return Window(
            name=step.name,
            moves=moves,
            seconds=end.at - start.at,
            server_cpu=server,
            store_cpu=store,
            client_cpu=client,
            others_cpu=everything - server - store - client,
            latencies_us=tuple(round(took * 1e6) for took in latencies),
            late_slots=self._late_slots,
        )

    async def _watch(self) -> None:
        """A move that does not reach all four holds its room up for ever: say so instead."""
        while True:
            seen = self._moves
            await asyncio.sleep(STALL_SECONDS)
            if self._moves == seen:
                self.fail(f"no move reached all four for {STALL_SECONDS} s")

    def _slot(self, over: Event) -> None:
        """The time of one answer has come."""
        if over.is_set():
            return
        if self._waiting:
            self._give(*self._waiting.popleft())
        else:
            self._late_slots += 1

    def _give(self, player: Player, seq: int, answer: bytes) -> None:
        self._under_way += 1
        player.table.sent_at[seq + 1] = perf_counter()
        player.send(answer)

    async def _until_quiet(self, waiting: int) -> None:
        """Nothing is under way, and at least so many answers wait."""
        # Looked at now and then: an event would cost every move something.
        while self._under_way or len(self._waiting) < waiting:  # noqa: ASYNC110
            await asyncio.sleep(TICK_SECONDS)

    def _read(self) -> _Reading:
        job = self._job
        store = cpu_seconds(job.store_pid) if job.store_pid else 0.0
        server = sum(map(cpu_seconds, job.server_pids))
        return _Reading(perf_counter(), server, store, process_time(), all_cpu_seconds())


def _pace(rate: int, slot: Callable[[], object], over: Event) -> None:
    """Slots in even steps. This has a thread of its own: the timers of an event loop are good to a
    millisecond, which would let moves come in pairs and wait for each other."""
    began = perf_counter()
    for number in count(1):
        sleep(max(0.0, began + number / rate - perf_counter()))
        if over.is_set():
            return
        slot()


async def main() -> None:
    orders = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    load = Load(msgspec.json.decode(await orders.readline(), type=Job))
    _answer(await load.make_tables())
    while order := await orders.readline():
        _answer(await load.play(msgspec.json.decode(order, type=Step)))
    os._exit(0)  # connections need not be closed one by one


def _answer(answer: Ready | Window) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    uvloop.run(main())
