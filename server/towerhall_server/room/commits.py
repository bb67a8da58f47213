"""A commit: what one command led to, who caused it, and how both are stored.

What happens inside the game is the game's own business: a commit carries its events unread.
"""

from typing import Any

import msgspec

from towerhall_server.game import AnyGame
from towerhall_server.room.events import UPCASTERS, RoomEvent
from towerhall_server.upcasting import upcast


class Cause(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Who made a commit: a person by a numbered command, the service for a seat, or the room."""

    seat: int = -1
    identity: str = ""
    origin: str = ""
    n: int = 0

    @property
    def sender(self) -> str:
        """Whose numbering `n` belongs to; nothing if no command caused this."""
        return f"{self.identity}/{self.origin}" if self.n else ""

    def shown(self) -> tuple[int | str, ...]:
        """What everybody may know of it (P-31)."""
        if self.n:
            return (self.seat, self.origin, self.n)
        return () if self.seat < 0 else (self.seat,)


THE_ROOM = Cause()


class Commit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one command led to, all or nothing, in this order."""

    cause: Cause
    room: tuple[RoomEvent, ...] = ()
    game: tuple[Any, ...] = ()
    """The game's own events."""
    end: tuple[RoomEvent, ...] = ()
    """What the game's end brings with it."""
    command: dict[str, Any] = {}
    """What was asked for: with it anyone can check later that the rules lead from here to there."""


class _Stored(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    cause: Cause
    room: tuple[RoomEvent, ...]
    game: msgspec.Raw
    end: tuple[RoomEvent, ...]
    command: dict[str, Any]


class _Unread(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    cause: msgspec.Raw
    room: msgspec.Raw
    game: msgspec.Raw
    end: msgspec.Raw
    command: msgspec.Raw


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Stored).decode
_NOTHING = msgspec.Raw(_encode(()))


def encode_commit(commit: Commit) -> bytes:
    return _encode(commit)


def decode_commit(blob: bytes, rules: AnyGame | None) -> Commit:
    """The commit as it was; `rules` are those of the room, unknown only for the first commit."""
    try:
        stored = _decode(blob)
    except msgspec.ValidationError:
        stored = _decode(_upcast(blob))
    events: tuple[Any, ...] = ()
    if stored.game != _NOTHING:
        if rules is None:
            raise ValueError("a game's events come before the room's")
        events = rules.read_events(stored.game)
    return Commit(stored.cause, stored.room, events, stored.end, stored.command)


def _upcast(blob: bytes) -> bytes:
    """A commit with the room's events in the form of today."""
    old = msgspec.msgpack.decode(blob, type=_Unread)
    room, end = upcast(old.room, UPCASTERS), upcast(old.end, UPCASTERS)
    return _encode(msgspec.structs.replace(old, room=room, end=end))
