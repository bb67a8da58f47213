"""The items that an actor handles one by one."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TypeAlias

import msgspec

from towerhall_protocol.messages import ClientCommand, Cursor, ServerMessage
from towerhall_server.eventlog.answers import Answer
from towerhall_server.eventlog.entry import Entry
from towerhall_server.live.viewer import Viewer
from towerhall_server.live.writer import Attempt
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Step


class Command(msgspec.Struct, frozen=True):
    viewer: Viewer
    asked: ClientCommand
    at: float = msgspec.field(default_factory=monotonic)
    """Time of arrival, in monotonic seconds."""


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
