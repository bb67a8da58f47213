"""What a room costs whose log is long: loading, a page of history, and coming back to it.

One room of 100 commits and one of 20,000 are written to a real engine, both with the same game at
their end; in the long one somebody could not decide for long before that. Everything is measured
by turns in both. How many commits follow the last snapshot varies from place to place, so the long
room is measured at several of them, and the slowest one counts. Of each way the best repeat counts:
whatever else the machine does only adds to a time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import uvloop

from tests.eventlog.logs import written
from tests.programs.bench.report import Figure
from tests.programs.bench.seeded_logs import SeededLog, by_caution
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import Cursor
from towerhall_server.cli.progress import progress
from towerhall_server.eventlog.entry import START, mark
from towerhall_server.eventlog.log import EventLog
from towerhall_server.frames import Prepared
from towerhall_server.game import Seat, discover
from towerhall_server.live.chat import BACKLOG
from towerhall_server.live.follower import TTL_MS, Follower
from towerhall_server.live.history import MOST_FRAMES, page
from towerhall_server.live.loading import load
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.live.replica import Replica
from towerhall_server.live.snapshots import EVERY
from towerhall_server.live.welcome import welcome
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person
from towerhall_server.room.view import base_of, view_class
from towerhall_server.store.engine import start_engine

SHORT, LONG = 100, 20_000
GAME_COMMITS = 70
"""At the end of both logs, the people who sit down for it included."""
PLACES = 4
"""Of the long log, spread over the commits between two snapshots."""
REPEATS = 80
ROUNDS = 8
"""All ways come up so often at each place, so that a busy second spoils none of them."""
BAR = 1.5
OLD = 10
"""The seq of the cursor with which somebody comes back."""


class Visitor:
    """A viewer that keeps nothing."""

    def __init__(self) -> None:
        self.person = Person("visitor", "Visitor")
        self.origin, self.level, self.claim = "visitor", LEVEL, 1
        self.seat: Seat | None = None
        self.alive, self.lags = True, False
        self.bytes = 0

    def answered(self, n: int) -> None:
        raise RuntimeError("the visitor asked nothing")

    def send(self, message: Prepared, *more: Prepared) -> None:
        self.bytes += sum(each.size for each in (message, *more))

    def close(self, reason: str) -> None:
        raise RuntimeError(f"the visitor was sent away: {reason}")


class Stored:
    """A room in the store."""

    def __init__(self, node: Node, log: SeededLog) -> None:
        self.node = node
        self.log = log
        self.place = START
        self.old: Cursor | None = None

    async def grow(self, commits: int) -> None:
        """The first so many of its commits are there. They get the time of now."""
        if not self.place.seq:
            await self.node.log.keep_secret(self.log.code, self.log.secret, TTL_MS)
        log, code = self.node.log, self.log.code
        for made in self.log.commits[self.place.seq : commits]:
            entry = made.entry
            new = await written(log, code, self.place, entry.commit_id, entry.blob, ttl_ms=TTL_MS)
            self.place = new.point
            if new.seq == OLD:
                room = made.after
                base = base_of(room, view_class(room.rules, None))
                self.old = Cursor(base, OLD, mark(new.chain))
        # Once to write the snapshots, and once more to know them for right: from then on nothing is
        # done in the background.
        for _ in range(2):
            await self.node.upkeep.look_through(self.log.code, rest=0)

    async def load(self, *, whole: bool = False) -> Replica:
        replica = await load(self.node, self.log.code, whole=whole)
        if replica is None or replica.point != self.place:
            raise RuntimeError("the room was not read to its end")
        return replica

    async def page(self, last: int) -> None:
        """A full page that ends there."""
        first = last - MOST_FRAMES + 1
        found = await page(self.node, self.log.code, "all", first, last)
        if found is None or not found.frames:
            raise RuntimeError("there is no history")

    async def resume(self, replica: Replica | None = None) -> None:
        """Somebody comes back who was there at the very beginning. As in the gateway, the store is
        asked for a claim and for the chat before."""
        store, code = self.node.log, self.log.code
        await asyncio.gather(store.claim(code), store.said(code, BACKLOG))
        follower = Follower(self.node, replica or await self.load())
        visitor = Visitor()
        await welcome(follower, visitor, self.old)
        follower.audience.remove(visitor)
        follower.audience.close("over")
        if not visitor.bytes:
            raise RuntimeError("nobody was welcomed")


def measure(long: int = LONG, repeats: int = REPEATS) -> list[Figure]:
    """The long room against the short one."""
    return uvloop.run(_measure(long, repeats))


def _written(number: int, commits: int) -> SeededLog:
    log = SeededLog(7, number, Settings())
    log.sit_and_start(commits - GAME_COMMITS)
    log.play_on(by_caution, commits)
    if len(log.commits) != commits:
        raise RuntimeError(f"the game is over after {len(log.commits)} commits")
    return log


async def _measure(long: int, repeats: int) -> list[Figure]:
    with TemporaryDirectory() as folder:
        engine = await start_engine(Path(folder))
        try:
            async with EventLog(engine.url) as log:
                node = Node("bench", log, ServiceClock(), discover())
                try:
                    return await _compared(node, long, repeats)
                finally:
                    await node.upkeep.close()
        finally:
            await engine.stop()


async def _compared(node: Node, long: int, repeats: int) -> list[Figure]:
    few, many = Stored(node, _written(1, SHORT)), Stored(node, _written(2, long))
    await few.grow(SHORT)
    slowest: dict[str, list[float]] = {}
    places = [long - EVERY * back // PLACES for back in range(PLACES)]
    for place in progress(sorted(places), PLACES, "places of a long log"):
        await many.grow(place)
        warm, cold = await few.load(), await many.load()
        middle = place // 2 + MOST_FRAMES
        ways: dict[str, tuple[Callable[[], Awaitable[object]], ...]] = {
            "loading": (few.load, many.load),
            "a page of history": (partial(few.page, SHORT), partial(many.page, place)),
            "a page of the middle": (partial(few.page, SHORT), partial(many.page, middle)),
            "coming back, loading first": (few.resume, many.resume),
            "coming back to a room in memory": (
                partial(few.resume, warm),
                partial(many.resume, cold),
            ),
        }
        times: dict[str, list[list[float]]] = {name: [[], []] for name in ways}
        for _ in range(ROUNDS):
            for name, pair in ways.items():
                for all_of_them, more in zip(
                    times[name], await _by_turns(max(repeats // ROUNDS, 1), *pair), strict=True
                ):
                    all_of_them += more
        for name, both in times.items():
            found = [min(each) for each in both]
            if name not in slowest or found[1] / found[0] > slowest[name][1] / slowest[name][0]:
                slowest[name] = found
    whole = await _by_turns(max(repeats // 10, 1), partial(many.load, whole=True))
    note = f"{long:,} commits against {SHORT}; slowest of {PLACES} places"
    figures = []
    for name, (short_s, long_s) in slowest.items():
        detail = f"{long_s * 1e3:.2f} against {short_s * 1e3:.2f} ms"
        figures.append(Figure(name, long_s / short_s, "x", BAR, note=detail))
    figures.append(Figure("loading without snapshots", min(whole[0]) * 1e3, "ms", note=note))
    return figures


async def _by_turns(repeats: int, *ways: Callable[[], Awaitable[object]]) -> list[list[float]]:
    """The seconds that each way took, each time."""
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(repeats):
        for way, found in zip(ways, times, strict=True):
            began = perf_counter()
            await way()
            found.append(perf_counter() - began)
        await asyncio.sleep(0)
    return times
