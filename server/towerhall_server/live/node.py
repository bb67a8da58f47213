"""The things that rooms of a server share: log, clock, ids, batches, games, metrics, callbacks."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from time import monotonic, time
from typing import Final, Generic, TypeVar

import msgspec

from towerhall_protocol.statements import Sign, unsigned
from towerhall_server.eventlog.append import Request
from towerhall_server.eventlog.entry import COMMIT_ID_BYTES, Stamps
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.shared import MOST_DOUBT_MS
from towerhall_server.game import AnyGame
from towerhall_server.live.archive import Archive
from towerhall_server.live.chat_window import ChatFanOut
from towerhall_server.live.search_process import start_search_process
from towerhall_server.live.searches import Searches
from towerhall_server.live.upkeep import Upkeep
from towerhall_server.room.state import Room
from towerhall_server.telemetry.meters import Meters

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

IDS_AT_ONCE: Final = 256
"""Ids of one draw. A system call for each id would cost more than all else about it."""
ROOMS_AT_ONCE: Final = 250
"""Rooms per batch. With more, the first rooms' data leaves the caches before the next step."""


class ServiceClock:
    """The store's clocks as a node estimates them, for each shard: the last answer plus the time
    since then. The service clock stands still while no node serves, so the estimate runs ahead for
    5 s at most."""

    def __init__(self) -> None:
        self._heard: dict[int, tuple[Stamps, float]] = {}

    def hear(self, shard: int, said: Stamps) -> int:
        """Take in the store's clocks, and return the service time that is known now. It never goes
        back; the store's clock does, if the store is replaced by an older copy of itself."""
        before, _ = self._heard.get(shard, (said, 0.0))
        known = max(before.served_ms, said.served_ms)
        self._heard[shard] = (Stamps(said.wall_ms, known), monotonic())
        return known

    def now(self, shard: int) -> Stamps:
        """The estimated wall clock and service clock of the store."""
        heard = self._heard.get(shard)
        if heard is None:
            return Stamps(round(time() * 1000), 0)
        said, since = heard
        passed_ms = round(1000 * (monotonic() - since))
        return Stamps(said.wall_ms + passed_ms, said.served_ms + min(passed_ms, MOST_DOUBT_MS))

    def is_sure(self, shard: int) -> bool:
        """Whether the store has told its clocks within the last seconds. Until then the service
        clock did not stop, so the estimate is right."""
        heard = self._heard.get(shard)
        return heard is not None and 1000 * (monotonic() - heard[1]) < MOST_DOUBT_MS

    def now_ms(self, shard: int) -> int:
        """The service clock alone."""
        return self.now(shard).served_ms

    def stamps(self, shard: int) -> tuple[int, int]:
        """Both clocks, as clients get them."""
        now = self.now(shard)
        return now.wall_ms, now.served_ms


class CommitIds:
    """A supply of ids that never gives one twice, in child processes either."""

    def __init__(self, draw: Callable[[int], bytes] = os.urandom) -> None:
        self._draw = draw
        self._left: list[bytes] = []
        # A child process must not draw what its parent has drawn.
        os.register_at_fork(after_in_child=self._left.clear)

    def new(self) -> bytes:
        if not self._left:
            drawn, size = self._draw(IDS_AT_ONCE * COMMIT_ID_BYTES), COMMIT_ID_BYTES
            self._left += [drawn[at : at + size] for at in range(0, len(drawn), size)]
        return self._left.pop()


class Stage(Generic[Result]):
    """Batches one step across rooms per loop tick. Its items are handled in order in the next tick;
    the next step gets their results, `None` left out.

    A move runs through more code than the caches of a core hold. Under load many moves come in one
    tick. One by one, each of them would load the code of every step anew. They go step by step
    instead: decide all; send all to the store in one write; encode their frames meanwhile; and when
    the answers come together, send all frames before the bookkeeping.
    """

    __slots__ = ("_then", "_todo")

    def __init__(self, then: Callable[[list[Result]], None]) -> None:
        self._then = then
        self._todo: list[Callable[[], Result | None]] = []

    def add(self, do: Callable[[], Result | None]) -> None:
        """Call `do` in the next tick. An exception is logged, and the others go on."""
        if not self._todo:
            asyncio.get_running_loop().call_soon(self._do_some)
        self._todo.append(do)

    def _do_some(self) -> None:
        todo, self._todo = self._todo[:ROOMS_AT_ONCE], self._todo[ROOMS_AT_ONCE:]
        if self._todo:
            asyncio.get_running_loop().call_soon(self._do_some)
        results: list[Result] = []
        for do in todo:
            try:
                result = do()
            except Exception:
                logger.exception("a step of one room has failed")
            else:
                if result is not None:
                    results.append(result)
        self._then(results)


def no_listener(before: Room | None, after: Room, seq: int) -> None:
    """No callback."""


def nothing_to_do(room: Room) -> None:
    """No callback."""


def one_search_process() -> Searches:
    """A single process, started for the first search."""
    return Searches(start_search_process, 1)


async def no_wait(person: str) -> int:
    """No limit."""
    return 0


class Node(msgspec.Struct, frozen=True, dict=True):
    """The shared things of all rooms on a server."""

    name: str
    log: EventLog
    clock: ServiceClock
    games: Mapping[str, AnyGame]
    keep_days: int = 30
    commit_ids: CommitIds = msgspec.field(default_factory=CommitIds)
    meters: Meters = msgspec.field(default_factory=Meters)
    heard: Callable[[Room | None, Room, int], None] = no_listener
    """Called for every commit that this node has appended, with the room before and after it, and
    its seq. Must not raise: the log holds the commit."""
    restored: Callable[[Room], None] = nothing_to_do
    """Called for every room whose log this node has put back into the store. The store has lost its
    other data of the room. Must not raise."""
    sign: Sign = unsigned
    """Signs statements of this server about a room. Must not raise."""
    owe: Callable[[str], None] | None = None
    """Called for every room that has left a debt to the public log in the store. Must not raise.
    `None`: there is no public log."""
    wait_ms: Callable[[str], Awaitable[int]] = no_wait
    """Milliseconds until a person may create another room. The answer 0 counts as a creation."""
    archive: Archive | None = None
    """The folder for records; None if the store alone keeps them."""
    searches: Searches = msgspec.field(default_factory=one_search_process)
    """Slow decisions of all rooms. Close it after the last room."""

    @cached_property
    def deciding(self) -> Stage[Request]:
        """The batch of commands that came in this tick."""
        return Stage(self.log.appender.ask_now)

    @cached_property
    def chat_fan_out(self) -> ChatFanOut:
        """Writes the chat of all rooms."""
        return ChatFanOut()

    @cached_property
    def upkeep(self) -> Upkeep:
        """Writes and checks snapshots. Close it after the last room."""
        return Upkeep(self.log, self.games, self.meters)
