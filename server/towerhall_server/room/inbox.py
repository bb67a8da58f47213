"""What a room can be given to do. An actor takes these one after the other."""

from typing import TypeAlias

import msgspec

from towerhall_protocol.messages import ClientCommand, Cursor, ServerChat
from towerhall_server.eventlog.entry import Entry
from towerhall_server.room.viewer import Viewer


class Command(msgspec.Struct, frozen=True):
    viewer: Viewer
    asked: ClientCommand


class Join(msgspec.Struct, frozen=True):
    viewer: Viewer
    cursor: Cursor | None
    lines: tuple[ServerChat, ...] = ()
    """Of chat, to be shown after the welcome."""


class Resync(msgspec.Struct, frozen=True):
    """A viewer was too slow and starts again from a snapshot."""

    viewer: Viewer


class News(msgspec.Struct, frozen=True):
    """Somebody has appended an entry."""

    entry: Entry


class Doubt(msgspec.Struct, frozen=True):
    """News may have been missed."""


class TimeIsUp(msgspec.Struct, frozen=True):
    """What the room wanted to do by itself may be due."""


Item: TypeAlias = Command | Join | Resync | News | Doubt | TimeIsUp
