"""Requests to a log, and its replies. Data only: nothing here talks to the store."""

from typing import Literal, TypeAlias

import msgspec

from towerhall_server.eventlog.entry import Entry, Point, Stamps


class Append(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One attempt to append; retried unchanged until its outcome is known."""

    mode: Literal["create", "append", "heal"]
    room: str
    before: Point
    entry: Entry
    """The proposed entry. The node proposes its stamps, and its chain covers them."""
    ttl_ms: int
    not_before_ms: int | None = None
    """For timers: the service time before which this append is refused."""
    due_at_ms: int | None = None
    """The service time at which the room needs its next wake-up."""
    summary: bytes | None = b""
    """The room's entry in the lobby; empty if it is not listed, `None` to leave it unchanged."""
    is_move: bool = False
    """Whether nothing changes but the log, and the stamps need no check: see `move.lua`."""
    owed: bytes = b""
    """Leaves owed to the public log for a new room; empty without a public log."""
    is_end: bool = False
    """Whether the game has ended with this entry. Its room is added to the ends of its shard."""
    secret: bytes = b""
    """The secret of a new room, kept together with its first entry; empty to keep none."""


class Appended(msgspec.Struct, frozen=True, gc=False):
    """The entry is in the log, as requested."""

    seq: int


class Conflict(msgspec.Struct, frozen=True):
    """The log does not end where the append expects."""

    seq: int
    chain: bytes


class Early(msgspec.Struct, frozen=True):
    ms_left: int


class Mistimed(msgspec.Struct, frozen=True):
    """The proposed stamps are too far from the store's clocks, which are given here. Nothing was
    written."""

    now: Stamps


class Gone(msgspec.Struct, frozen=True):
    """There is no such log. An append or a heal never creates one."""


class Exists(msgspec.Struct, frozen=True):
    """A room with that code exists already."""


Answer: TypeAlias = Appended | Conflict | Early | Mistimed | Gone | Exists


class Following(msgspec.Struct, frozen=True):
    """The entries after the reader's place, with every link checked; `more` if this was a full
    page."""

    entries: tuple[Entry, ...]
    more: bool


class Behind(msgspec.Struct, frozen=True):
    """The log ends before the reader's place: it lost its tail."""

    top: Entry


class Forked(msgspec.Struct, frozen=True):
    """At that seq the log differs from the reader's copy, or its links do not hold."""

    seq: int
    sound: tuple[Entry, ...] = ()
    """Return the entries between the reader's place and that seq, with every link checked."""


Reading: TypeAlias = Following | Behind | Forked | Gone


def reading_of(place: Point, found: tuple[Entry, ...], *, more: bool) -> Following | Forked:
    """Interpret a page that begins with the reader's own entry."""
    if place.seq > 0:
        known, *later = found
        if known.point != place:
            return Forked(place.seq)
        found = tuple(later)
    before = place
    for number, entry in enumerate(found):
        if not entry.follows(before):
            return Forked(entry.seq, found[:number])
        before = entry.point
    return Following(found, more)


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A room whose log the store has lost, and a node holds completely."""

    room: str
    first: Entry
    newest_wall_ms: int
    """The store's time of the newest commit."""
    secret: bytes
    due_at_ms: int
    summary: bytes
    ttl_ms: int
    rest: tuple[Append, ...]
    """The heals that put the later entries back."""


class Removed(msgspec.Struct, frozen=True):
    """The room and all its keys are removed."""


class Beat(msgspec.Struct, frozen=True):
    """The store's clocks, and the rooms that are due."""

    now: Stamps
    due: tuple[str, ...]


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a room's chat."""

    id: str
    """Sorts and names the line: `<wall ms>-<n>`."""
    wall_ms: int
    text: bytes


def line_of(name: bytes, text: bytes) -> Line:
    """Make a line from the id that the store gave it."""
    wall_ms, _, _ = name.partition(b"-")
    return Line(name.decode(), int(wall_ms), text)
