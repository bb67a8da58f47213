"""Snapshots of a room: the folded state at one place of its log, as bytes, and which are kept.

A snapshot saves the fold of a long log, but the log alone counts. A reader takes a snapshot only if
its place is in the log, and a background fold checks it (`upkeep`). It holds no secret, but the
hidden state of the game, so it stays in store and server.

Pure functions only: `follower` and `upkeep` write snapshots, `reading` reads them.
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from typing import Any, Final

import msgspec

from towerhall_server.eventlog.entry import Point, Stamps
from towerhall_server.game import AnyGame, UnknownRulesError, rules_of
from towerhall_server.room.aliases import secret_and_salt
from towerhall_server.room.state import Room
from towerhall_server.room.table import Table

FORMAT: Final = 2
FIRST: Final = 256
"""The seq of the first snapshot. A shorter log is read as fast without one."""
EVERY: Final = 64
"""Commits between two snapshots."""
WINDOW: Final = 512
"""Newest snapshots that are all kept. Older ones get sparser with age."""
MOST_BYTES: Final = 1 << 17
"""Bytes of the largest snapshot that is kept."""
DIGEST_BYTES: Final = 16


class Snapshot(msgspec.Struct, frozen=True):
    """A room at a place of its log, as a snapshot tells it."""

    room: Room
    point: Point
    digest: bytes
    """Names this snapshot."""


class _Sealed(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The stored form. The digest covers all other fields."""

    form: bytes
    name: str
    version: int
    seq: int
    chain: bytes
    stamps: Stamps
    table: msgspec.Raw
    options: msgspec.Raw
    game: msgspec.Raw
    rest: msgspec.Raw
    digest: bytes


def _parts(whole: type[msgspec.Struct], *without: str) -> type[msgspec.Struct]:
    """A struct with the same fields except for some. Fields that are added later come along."""
    fields = [
        (field.name, field.type)
        for field in msgspec.structs.fields(whole)
        if field.name not in without
    ]
    name = f"{whole.__name__}Parts"
    return msgspec.defstruct(name, fields, frozen=True, array_like=True, forbid_unknown_fields=True)


_TableParts: Final = _parts(Table, "options")
_RoomParts: Final = _parts(Room, "rules", "secret", "salt", "table", "game")
"""Secret and salt are in a key of their own, and must not be in this one."""
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_Sealed).decode
_NO_GAME: Final = msgspec.Raw(_encode(None))


def is_due(seq: int) -> bool:
    """Whether a snapshot is made after that commit."""
    return seq >= FIRST and seq % EVERY == 0


def newest_due(seq: int) -> int:
    """The seq of the newest snapshot that is due up to that seq; 0 if none is."""
    due = seq // EVERY * EVERY
    return due if is_due(due) else 0


def outdated(seq: int) -> int | None:
    """The seq of the snapshot that one of that seq replaces; `None` if there is none."""
    number = seq // EVERY
    old = number - WINDOW * _step(number)
    return old * EVERY if old > 0 else None


def is_wanted(seq: int, newest: int) -> bool:
    """Whether the snapshot of that seq is kept beside the newest one, if it is due at all.

    The more often the number of a snapshot can be halved, the longer it is kept. The number of
    all grows with the logarithm of the log, and the gaps between them with their age.
    """
    number = seq // EVERY
    return newest // EVERY - number < WINDOW * _step(number)


def _step(number: int) -> int:
    """The largest power of two that divides it."""
    return number & -number


def pack(room: Room, point: Point) -> bytes | None:
    """A snapshot as bytes; `None` if it would be too large."""
    parts = (
        _form(room.rules),
        room.rules.name,
        room.rules.version,
        point.seq,
        point.chain,
        point.stamps,
        msgspec.Raw(_encode(_some(_TableParts, room.table))),
        msgspec.Raw(_encode(room.table.options)),
        msgspec.Raw(_encode(room.game)),
        msgspec.Raw(_encode(_some(_RoomParts, room))),
    )
    data = _encode(_Sealed(*parts, _digest(parts)))
    return data if len(data) <= MOST_BYTES else None


def unpack(data: bytes, games: Mapping[str, AnyGame], kept: bytes) -> Snapshot | None:
    """The snapshot in these bytes; `None` if they are damaged, or of another version.

    `kept` is what the store keeps under the room's secret.
    """
    secret, salt = secret_and_salt(kept)
    try:
        found = _decode(data)
        *parts, digest = msgspec.structs.astuple(found)
        rules = rules_of(games, found.name, found.version)
        if found.form != _form(rules) or digest != _digest(tuple(parts)):
            return None
        options = msgspec.msgpack.decode(found.options, type=rules.options_type)
        table = Table(options=options, **_fields(found.table, _TableParts))
        game = None
        if found.game != _NO_GAME:
            game = msgspec.msgpack.decode(found.game, type=rules.state_type)
        room = Room(
            rules=rules,
            secret=secret,
            salt=salt,
            table=table,
            game=game,
            **_fields(found.rest, _RoomParts),
        )
    except (msgspec.MsgspecError, UnknownRulesError, ValueError, TypeError, RecursionError):
        return None
    return Snapshot(room, Point(found.seq, found.chain, found.stamps), digest)


def _form(rules: AnyGame) -> bytes:
    return _form_of((rules.state_type, rules.options_type))


@lru_cache(maxsize=64)
def _form_of(types: tuple[Any, ...]) -> bytes:
    """Names the program and the types that made a snapshot: another program might misread it, and
    folds the log instead."""
    schemas = [msgspec.json.schema(kind) for kind in (*types, _TableParts, _RoomParts)]
    named = msgspec.json.encode((FORMAT, version("towerhall"), schemas))
    return blake2b(named, digest_size=DIGEST_BYTES).digest()


def _digest(parts: tuple[Any, ...]) -> bytes:
    return blake2b(_encode(parts), digest_size=DIGEST_BYTES).digest()


def _some(kind: type[msgspec.Struct], whole: msgspec.Struct) -> msgspec.Struct:
    return kind(*(getattr(whole, name) for name in kind.__struct_fields__))


def _fields(data: msgspec.Raw, kind: type[msgspec.Struct]) -> dict[str, Any]:
    return msgspec.structs.asdict(msgspec.msgpack.decode(data, type=kind))
