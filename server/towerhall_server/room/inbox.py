"""What a room can be given to do. An actor takes these one after the other."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TypeAlias

import msgspec

from towerhall_protocol.messages import ClientCommand, Cursor, ServerMessage
from towerhall_server.eventlog.answers import Answer
from towerhall_server.eventlog.entry import Entry
from towerhall_server.room.attempt import Attempt
from towerhall_server.room.core import Step
from towerhall_server.room.state import Room
from towerhall_server.room.viewer import Viewer


class Command(msgspec.Struct, frozen=True):
    viewer: Viewer
    asked: ClientCommand
    at: float = msgspec.field(default_factory=monotonic)
    """When it came, in monotonic seconds."""


class Tried(msgspec.Struct, frozen=True):
    """A command that was not simply done when it came, and what stood in its way."""

    command: Command
    attempt: Attempt
    answer: Answer | Exception


class Join(msgspec.Struct, frozen=True):
    viewer: Viewer
    cursor: Cursor | None
    lines: tuple[ServerMessage, ...] = ()
    """Of chat, to be shown after the welcome."""


class Resync(msgspec.Struct, frozen=True):
    """A viewer was too slow and starts again from a snapshot."""

    viewer: Viewer


class News(msgspec.Struct, frozen=True):
    """Somebody has appended an entry."""

    entry: Entry


class Doubt(msgspec.Struct, frozen=True):
    """News may have been missed."""


class HostAway(msgspec.Struct, frozen=True):
    """The host may have been away for too long."""


class Order(msgspec.Struct, frozen=True):
    """Whoever runs the service wants something done; `decide` says what, or that it is done."""

    decide: Callable[[Room], Step | None]
    done: asyncio.Future[None]

    def fail(self, error: Exception) -> None:
        """It cannot be done; whoever waits for it is told why."""
        if not self.done.done():
            self.done.set_exception(error)


class TimeIsUp(msgspec.Struct, frozen=True):
    """What the room wanted to do by itself may be due."""


Item: TypeAlias = Command | Tried | Join | Resync | News | Doubt | HostAway | Order | TimeIsUp


class Inbox:
    """A queue with one reader: half the work of one that may have many."""

    __slots__ = ("_held", "_items", "_loop", "_reader")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: deque[Item] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._held = False

    def __len__(self) -> int:
        """Of all that is not done, as far as it is known here."""
        return len(self._items) + self._held

    @property
    def idle(self) -> bool:
        """Whether the reader has done everything, and would be given the next item at once."""
        return self._reader is not None and not self._held

    def put(self, item: Item) -> None:
        self._items.append(item)
        if not self._held:
            self._wake()

    def hold(self) -> None:
        """Give the reader nothing until `release`: somebody does something in its place."""
        self._held = True

    def release(self, first: Item | None = None) -> None:
        """The reader goes on, with this before everything else."""
        self._held = False
        if first is not None:
            self._items.appendleft(first)
        if self._items:
            self._wake()

    def holds(self, kind: type[Item]) -> bool:
        return any(isinstance(item, kind) for item in self._items)

    def empty(self) -> tuple[Item, ...]:
        """Everything that is left, at once."""
        items = tuple(self._items)
        self._items.clear()
        return items

    async def take(self) -> Item:
        """The next item, once there is one."""
        while self._held or not self._items:
            self._reader = self._loop.create_future()
            await self._reader
        return self._items.popleft()

    def _wake(self) -> None:
        if self._reader is not None:
            if not self._reader.done():
                self._reader.set_result(None)
            self._reader = None
