"""What searches in some rooms cost the moves of others, on a core that they have to share.

A load of Five Towers is played at a steady rate, in windows by turns: in one kind of them nothing
else goes on, in the other kind each of 20 more rooms waits for a search, asks for the next one as
soon as it has its answer, and so keeps all search processes busy. The server's processes share one
core, the load and the store have the other one: no machine could make it harder for the moves.

A search is refused in the end, so the rooms that search need no moves to go on.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random
from statistics import median
from time import monotonic, sleep

import msgspec

from tests.programs.bench.alternating import Series, alternated
from tests.programs.bench.driving import disturbed, driven, spares_for
from tests.programs.bench.load import Step, Window
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import towerhall
from tests.programs.bench.usage import children, cpu_seconds, refuse_other_systems
from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError
from towerhall_client.http import Service
from towerhall_protocol import updates as u
from towerhall_server.cli.progress import progress

ROOMS, SEARCHING_ROOMS = 100, 20
REPEATS = 3
SEARCH_MS = 300
STEADY = Series(Step("steady", moves=900, warm_up=150, rate=300), windows=4)
P99_RATIO_BAR = 2.0
PATIENCE_SECONDS = 60.0


class Pair(msgspec.Struct, frozen=True):
    """The same load in one repeat, with and without searches."""

    quiet: Window
    searching: Window
    searches: int
    """Searches that were answered meanwhile."""
    busy: float
    """Seconds of CPU that they took."""
    queue: int
    """The most searches that a player was told to come first."""


def measure() -> list[Figure]:
    """The latency of a move beside searches, as a multiple of its latency without any."""
    return figures(run_pairs(ROOMS, REPEATS, STEADY))


def run_pairs(rooms: int, repeats: int, steady: Series, search_ms: int = SEARCH_MS) -> list[Pair]:
    refuse_other_systems()
    # One load plays the windows of both kinds.
    spares = spares_for(2 * steady.most_moves(rooms))

    def repeat(number: int) -> Pair:
        with (
            towerhall("tests.end_to_end.thinking_server") as server,
            driven(server, rooms, spares=spares) as load,
            thinkers(f"http://{server.addresses[0]}", search_ms) as crowd,
        ):
            began = _search_seconds(server.pids[0])

            def searching(step: Step) -> Window:
                with crowd.thinking():
                    return load.play(step)

            plays = {"quiet": load.play, "searching": searching}
            found = alternated(plays, steady, Random(number))
            busy = _search_seconds(server.pids[0]) - began
        return Pair(found["quiet"], found["searching"], crowd.answered, busy, crowd.longest_queue)

    return list(progress(map(repeat, range(repeats)), repeats, "searches"))


def figures(pairs: Sequence[Pair]) -> list[Figure]:
    found = []
    # Beside searches nobody could tell what else takes time.
    void = disturbed([pair.quiet for pair in pairs])
    for share, bar in ((0.5, None), (0.99, P99_RATIO_BAR)):
        quiet = [pair.quiet.latency_us(share) / 1000 for pair in pairs]
        beside = [pair.searching.latency_us(share) / 1000 for pair in pairs]
        ratios = [more / less for more, less in zip(beside, quiet, strict=True)]
        name = f"p{share * 100:.0f}"
        found += [
            Figure(f"move to all four, {name}, quiet", median(quiet), "ms", note=span(quiet)),
            Figure(
                f"  beside searches in {SEARCHING_ROOMS} rooms",
                median(beside),
                "ms",
                note=span(beside),
            ),
            Figure(
                f"  {name} against quiet", median(ratios), "x", bar, note=span(ratios), void=void
            ),
        ]
    answered = [float(pair.searches) for pair in pairs]
    each = [pair.busy / pair.searches for pair in pairs]
    queue = max(pair.queue for pair in pairs)
    return [
        *found,
        Figure("  searches answered", median(answered), "", note=f"longest queue {queue}"),
        Figure("  CPU of a search", median(each), "s", note=span(each)),
    ]


def _search_seconds(server: int) -> float:
    """CPU time of the server's search processes so far."""
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children(server)}
    return sum(cpu_seconds(pid) for pid, line in lines.items() if b"search_process" in line)


class Crowd:
    """Players of rooms that search, in a thread of their own."""

    def __init__(self, url: str, search_ms: int) -> None:
        self._url = url
        self._search_ms = search_ms
        self._numbers = count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._go = asyncio.Event()
        self._waiting = 0
        self.answered = 0
        self.longest_queue = 0

    @contextmanager
    def thinking(self) -> Iterator[None]:
        """All rooms search; when this ends, each has had its last answer."""
        self._loop.call_soon_threadsafe(self._go.set)
        self._wait_until(lambda: self._waiting == SEARCHING_ROOMS)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._go.clear)
            self._wait_until(lambda: self._waiting == 0)

    def start(self) -> None:
        self._thread.start()
        future = asyncio.run_coroutine_threadsafe(self._come(), self._loop)
        future.result(PATIENCE_SECONDS)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _come(self) -> None:
        self._stack = AsyncExitStack()
        service = Service(self._url)
        guest = await service.guest("Thinker")
        self._tasks = []
        for _ in range(SEARCHING_ROOMS):
            room = await service.create_room(guest.token, "thinking", seats=2)
            opened = connect(self._url, room.code, guest.token)
            table = await self._stack.enter_async_context(opened)
            await table.sit(0)
            await table.add_bot("easy")
            await table.start()
            await table.turn()
            self._tasks += [
                asyncio.create_task(self._think(table)),
                asyncio.create_task(self._listen(table)),
            ]

    async def _leave(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stack.aclose()

    async def _think(self, table: Table) -> None:
        while True:
            await self._go.wait()
            self._waiting += 1
            command = {"command": "think", "ms": self._search_ms, "n": next(self._numbers)}
            with suppress(RefusedError):
                await table.send(command)
            self._waiting -= 1
            self.answered += 1

    async def _listen(self, table: Table) -> None:
        async for update in table:
            if isinstance(update, u.Searching):
                self.longest_queue = max(self.longest_queue, update.ahead)

    def _wait_until(self, holds: Callable[[], bool]) -> None:
        until = monotonic() + PATIENCE_SECONDS
        while not holds():
            if monotonic() > until:
                raise RuntimeError("the rooms that search do not go on")
            sleep(0.01)


@contextmanager
def thinkers(url: str, search_ms: int) -> Iterator[Crowd]:
    """Rooms that search when they are told to."""
    crowd = Crowd(url, search_ms)
    crowd.start()
    try:
        yield crowd
    finally:
        crowd.stop()
