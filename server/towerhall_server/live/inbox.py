"""The items that an actor handles one by one, and the queue that it takes them from."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeAlias

import msgspec

from towerhall_protocol.messages import ClientCommand, Cursor, ServerMessage
from towerhall_server.eventlog.answers import Answer
from towerhall_server.eventlog.entry import Entry
from towerhall_server.live.attempt import Attempt
from towerhall_server.live.viewer import Viewer
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Step


class Command(msgspec.Struct, frozen=True):
    viewer: Viewer
    asked: ClientCommand
    at: float = msgspec.field(default_factory=monotonic)
    """Time of arrival, in monotonic seconds."""

    def is_heard(self) -> bool:
        """Whether its client will hear the answer. If not, it is not decided: the client sends it
        again on its next connection. A rejection is final there, so this copy must not be done."""
        return self.viewer.alive


class Tried(msgspec.Struct, frozen=True):
    """A command of the fast path that the store did not simply append, and the answer."""

    command: Command
    attempt: Attempt
    answer: Answer | Exception


class Join(msgspec.Struct, frozen=True):
    viewer: Viewer
    cursor: Cursor | None
    lines: tuple[ServerMessage, ...] = ()
    """Lines of chat that follow the welcome."""


class Resync(msgspec.Struct, frozen=True):
    """A viewer was too slow and starts again from a snapshot."""

    viewer: Viewer


class News(msgspec.Struct, frozen=True):
    """Another node has appended an entry."""

    entry: Entry


class Doubt(msgspec.Struct, frozen=True):
    """A notification may be missing."""


class Distrust(msgspec.Struct, frozen=True):
    """A snapshot was wrong, and the room may have been read from it."""


class HostAway(msgspec.Struct, frozen=True):
    """The host may be absent."""


class Order(msgspec.Struct, frozen=True):
    """An operator or the service wants a step. `decide` returns `None` if it is done."""

    decide: Callable[[Room], Step | None]
    done: asyncio.Future[None]

    def fail(self, error: Exception) -> None:
        """It cannot be done: the waiting caller gets the error."""
        if not self.done.done():
            self.done.set_exception(error)


class Lose(msgspec.Struct, frozen=True):
    """A viewer of a sandbox room wants its log to lose that many commits."""

    count: int


class TimeIsUp(msgspec.Struct, frozen=True):
    """A deadline of the room may have come."""


Item: TypeAlias = (
    Command | Tried | Join | Resync | News | Doubt | Distrust | HostAway | Order | Lose | TimeIsUp
)


class Inbox:
    """A queue with a single reader, at half the cost of `asyncio.Queue`."""

    __slots__ = ("_aside", "_held", "_items", "_loop", "_reader")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: deque[Item] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._aside: asyncio.Future[None] | None = None
        """The reader, while it handles an item and waits for another one."""
        self._held = False

    def __len__(self) -> int:
        """Items that are not done, the one on the fast path included."""
        return len(self._items) + self._held

    @property
    def idle(self) -> bool:
        """Whether the reader waits, so that the next item would be its next work."""
        return self._reader is not None and not self._held

    def put(self, item: Item) -> None:
        self._items.append(item)
        if not self._held:
            self._wake()
        self._wake_aside()

    def hold(self) -> None:
        """Give the reader nothing until `release`: the fast path works in its place."""
        self._held = True

    def release(self, first: Item | None = None) -> None:
        """The reader goes on, with this item first."""
        self._held = False
        if first is not None:
            self._items.appendleft(first)
        if self._items:
            self._wake()

    def holds(self, kind: type[Item]) -> bool:
        return any(isinstance(item, kind) for item in self._items)

    def empty(self) -> tuple[Item, ...]:
        """Take all items out."""
        items = tuple(self._items)
        self._items.clear()
        return items

    async def take(self) -> Item:
        """The next item, once there is one."""
        while self._held or not self._items:
            self._reader = self._loop.create_future()
            await self._reader
        return self._items.popleft()

    async def take_aside(
        self, fits: Callable[[Item], bool], until: "asyncio.Future[Any]"
    ) -> Item | None:
        """The next item that fits, for a reader that has not finished its last one; `None` once
        `until` is done. Such a reader is not idle."""
        until.add_done_callback(self._wake_aside)
        try:
            while not until.done():
                for at, item in enumerate(self._items):
                    if fits(item):
                        del self._items[at]
                        return item
                self._aside = self._loop.create_future()
                await self._aside
            return None
        finally:
            self._aside = None
            until.remove_done_callback(self._wake_aside)

    def _wake_aside(self, _: object = None) -> None:
        if self._aside is not None and not self._aside.done():
            self._aside.set_result(None)

    def _wake(self) -> None:
        if self._reader is not None:
            if not self._reader.done():
                self._reader.set_result(None)
            self._reader = None
