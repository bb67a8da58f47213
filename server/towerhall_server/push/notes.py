"""What a person who is away is told about a room. Pure.

A note holds what all viewers of the room may see: never a view, a key or a token.
"""

from collections.abc import Collection
from hashlib import blake2b
from typing import Final, Literal

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_server.eventlog.pushes import Subscription, ToldOf
from towerhall_server.lobby.places import finished_at, invited_to
from towerhall_server.room.state import Room
from towerhall_server.room.table import Table
from towerhall_server.room.view import host_name

Kind = Literal["turn", "invited", "ended"]
RECENT_MS: Final = 600_000
"""Milliseconds for which the end of a game is news."""
LONGEST_SECONDS: Final = 24 * 3600
"""Seconds for which a push service keeps a note for a device that is off."""
TOPIC_BYTES: Final = 18
MOST_NAMES: Final = 4
BODY_BYTES: Final = 768
"""Length of each body before it is encrypted, so that all look alike."""


class Note(msgspec.Struct, frozen=True):
    """What a person is told about one room."""

    kind: Kind
    mark: str
    """Names what it is about: a person is not told twice of the same."""
    room: str
    game: str
    names: tuple[str, ...]
    topic: str
    """Names the room for the push service, which keeps the last note of a room only. It is a
    digest: a code would lead the push service to the room."""
    seconds: int
    """How long it stays true."""
    urgent: bool
    place: int | None = None


class Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """The note as the device gets it (P-219)."""

    kind: Kind
    room: str
    game: str
    names: tuple[str, ...]
    language: str
    place: int | None = None


def note_of(room: Room, alias: str, present: Collection[int], now_ms: int) -> Note | None:
    """What a person is to be told of a room; None if nothing. `present` are the seats that are
    connected to it; `now_ms` is the service time."""
    table, seat = room.table, room.table.seated.get(alias)
    if table.settings.sandbox or (seat is not None and seat in present):
        return None
    if seat is not None and seat in room.to_act() and room.is_played(seat):
        return _note(
            room, "turn", room.tag, _others(table, alias), _left(room, now_ms), urgent=True
        )
    if is_fresh_end(room, now_ms) and seat is not None and room.is_played(seat):
        mark = f"end {table.deal}"
        ended = _note(room, "ended", mark, _others(table, alias), LONGEST_SECONDS)
        return msgspec.structs.replace(ended, place=finished_at(table, seat))
    if seat is None and alias in invited_to(table) and alias not in table.kicked:
        host = host_name(table)
        names = (host,) if host else ()
        return _note(room, "invited", "invited", names, LONGEST_SECONDS, urgent=True)
    return None


def is_news(note: Note, told: ToldOf | None) -> bool:
    """Whether a person who was last told of a room in this way is to be told again: never of the
    same, and of another turn only if they have come to the room in between."""
    if told is None or told.kind != note.kind or not told.sent:
        return True
    return told.seen and told.mark != note.mark


def is_fresh_end(room: Room, now_ms: int) -> bool:
    """Whether a game with a result has ended just now."""
    ended = room.table.status == "over" and room.table.result is not None
    return ended and now_ms - room.began_ms < RECENT_MS


def absentees(room: Room, present: Collection[int], now_ms: int) -> list[str]:
    """The aliases of all who may have to be told."""
    table = room.table
    if room.playing:
        seats = [seat for seat in room.to_act() if seat not in present]
        holders = [table.seats[seat] for seat in seats]
        return [each.identity for each in holders if each is not None and each.identity]
    if table.status == "waiting":
        return sorted(invited_to(table) - table.seated.keys())
    if is_fresh_end(room, now_ms):
        return [alias for alias, seat in table.seated.items() if seat not in present]
    return []


def body_of(note: Note, to: Subscription) -> bytes:
    """The body for one device. Names are shortened if the body would be too long."""
    for longest in (40, 10, 0):
        names = tuple(name[:longest] for name in note.names if longest)
        body = Body(note.kind, note.room, note.game, names, to.language, note.place)
        encoded = msgspec.json.encode(body)
        if len(encoded) < BODY_BYTES:
            break
    return encoded


def _note(
    room: Room, kind: Kind, mark: str, names: tuple[str, ...], seconds: int, *, urgent: bool = False
) -> Note:
    table = room.table
    topic = base64url(
        blake2b(table.uid, digest_size=TOPIC_BYTES, person=b"towerhall push").digest()
    )
    return Note(kind, mark, table.code, table.game, names, topic, seconds, urgent)


def _others(table: Table, alias: str) -> tuple[str, ...]:
    """The names of the others at the table."""
    held = [holder for holder in table.seats if holder is not None and holder.identity != alias]
    return tuple(holder.name for holder in held[:MOST_NAMES])


def _left(room: Room, now_ms: int) -> int:
    """Seconds until the turn is over."""
    settings = room.table.settings
    if not settings.turn_seconds:
        return LONGEST_SECONDS
    return min(max(room.began_ms + settings.turn_ms - now_ms, 0) // 1000, LONGEST_SECONDS)
