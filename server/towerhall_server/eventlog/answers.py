"""What is asked of a log, and what it answers. Data only: nothing here talks to the store."""

from typing import Literal, TypeAlias

import msgspec

from towerhall_server.eventlog.entry import Entry, Point, Stamps


class Append(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One attempt to append; repeated as it is until its answer is known."""

    mode: Literal["create", "append", "heal"]
    room: str
    before: Point
    commit_id: bytes
    chain: bytes
    blob: bytes
    ttl_ms: int
    origin: str = ""
    """Identity and client instance of the command; nothing for timers, bots and the room itself."""
    n: int = 0
    not_before_ms: int | None = None
    """Service time before which this must not happen: for timers."""
    due_in_ms: int | None = None
    """When the room wants to be woken, counted from this commit."""
    due_at_ms: int | None = None
    """The same as service time."""
    summary: bytes | None = b""
    """What the lobby shows; nothing if the room is not listed, `None` to leave it as it is."""
    stamps: Stamps | None = None
    """The original ones, with `heal`."""


class Appended(msgspec.Struct, frozen=True, gc=False):
    seq: int
    stamps: Stamps


class Duplicate(msgspec.Struct, frozen=True):
    """This command has been committed before, at that seq."""

    seq: int


class Stale(msgspec.Struct, frozen=True):
    """A later command of the same client came first; this one is never applied."""


class Conflict(msgspec.Struct, frozen=True):
    """The log does not end where the append expects."""

    seq: int
    chain: bytes


class Early(msgspec.Struct, frozen=True):
    ms_left: int


class Gone(msgspec.Struct, frozen=True):
    """There is no such log. It is never made anew."""


class Exists(msgspec.Struct, frozen=True):
    """A room of that code is there already."""


Answer: TypeAlias = Appended | Duplicate | Stale | Conflict | Early | Gone | Exists


class Following(msgspec.Struct, frozen=True):
    """What comes after the reader's place, with every link checked; `more` if that was a page."""

    entries: tuple[Entry, ...]
    more: bool


class Behind(msgspec.Struct, frozen=True):
    """The log ends before the reader's place: it has lost its tail."""

    top: Entry


class Forked(msgspec.Struct, frozen=True):
    """At that seq the log is not what the reader knows, or its links do not hold."""

    seq: int


Reading: TypeAlias = Following | Behind | Forked | Gone


class Removed(msgspec.Struct, frozen=True):
    """The room and all that belonged to it are no more."""


class Beat(msgspec.Struct, frozen=True):
    """The service clock, and the rooms that wanted to be woken by now."""

    served_ms: int
    due: tuple[str, ...]


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a room's chat."""

    id: str
    """Sorts and names the line: `<wall ms>-<n>`."""
    wall_ms: int
    text: bytes


def line_of(name: bytes, text: bytes) -> Line:
    """A line from the id that the store gave it."""
    wall_ms, _, _ = name.partition(b"-")
    return Line(name.decode(), int(wall_ms), text)
