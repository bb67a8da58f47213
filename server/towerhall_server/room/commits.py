"""A commit: the events of one command, its cause, and the stored form of both.

A commit carries the events of the game unread.
"""

from typing import Any, Final

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


THE_ROOM = Cause()


class Commit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The events of one command, all or none, in this order."""

    cause: Cause
    room: tuple[RoomEvent, ...] = ()
    game: tuple[Any, ...] = ()
    """The game's own events."""
    end: tuple[RoomEvent, ...] = ()
    """Events that the end of the game adds."""
    command: dict[str, Any] = {}
    """The command itself. With it, anyone can check later that the rules lead to these events."""


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


_plain = msgspec.msgpack.Decoder().decode
_decode = msgspec.msgpack.Decoder(_Stored).decode
encode_commit = msgspec.msgpack.Encoder(order="sorted").encode
"""The stored bytes: the shortest msgpack of each value, the keys of maps in order. A commit has one
form, because the chain covers these very bytes (P-122)."""
_NOTHING = msgspec.Raw(encode_commit(()))


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


def form_of(blob: bytes, commit: Commit, rules: AnyGame | None) -> bytes:
    """The only bytes that may stand for this commit, which was decoded from these.

    Events that were stored in another form, before this version, keep it; all else is as
    `encode_commit` writes it today.
    """
    old = {*UPCASTERS, *(rules.upcasters if rules else ())}
    stored, today = _plain(blob), _plain(encode_commit(commit))
    for part in _EVENTS:
        today[part] = [
            was if was[0] in old else now
            for was, now in zip(stored[part], today[part], strict=True)
        ]
    return encode_commit(today)


_EVENTS: Final = (1, 2, 3)
"""Places of the events in a stored commit."""


def _upcast(blob: bytes) -> bytes:
    """A commit with the room's events in the form of today."""
    old = msgspec.msgpack.decode(blob, type=_Unread)
    room, end = upcast(old.room, UPCASTERS), upcast(old.end, UPCASTERS)
    return encode_commit(msgspec.structs.replace(old, room=room, end=end))
