"""Everything that can happen to a room around its game, and the commit that holds it.

These are stored for ever and written as arrays: a name, then the fields in this order. A field is
never moved or removed; a new one comes last and has a default; an event that changes otherwise is
stored under a new name, and `UPCASTERS` says what the old one is today. Whatever a newer server
wrote is refused rather than read in part: that room is for others to serve.
What happens inside the game is the game's own business: a commit carries its events unread.
"""

from typing import Any, Final, TypeAlias

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_server.game import AnyGame, event_name
from towerhall_server.upcasting import Upcasters, upcast


class Settings(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is agreed about a room besides the options of its game."""

    turn_seconds: int = 0
    """0: no clock."""
    bot_delay_ms: int = 600


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


class _Event(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag=event_name
):
    pass


class RoomCreated(_Event, frozen=True):
    uid: bytes
    code: str
    game: str
    version: int
    options: dict[str, Any]
    seats: int
    settings: Settings
    commitment: bytes
    host: str
    key_hash: bytes = b""


class PersonSat(_Event, frozen=True):
    seat: int
    identity: str
    name: str
    nonce_hash: bytes = b""


class BotSat(_Event, frozen=True):
    seat: int
    level: str


class SeatLeft(_Event, frozen=True):
    seat: int


class HostPassed(_Event, frozen=True):
    """The host left, and the person in that seat is host now."""

    seat: int


class SeatReady(_Event, frozen=True):
    seat: int
    ready: bool
    nonce_hash: bytes = b""


class Sealed(_Event, frozen=True):
    """Seats and hashes are fixed for this deal."""

    deal: int
    nonce_hashes: tuple[bytes, ...]


class NonceOpened(_Event, frozen=True):
    seat: int
    nonce: bytes


class DealCancelled(_Event, frozen=True):
    """Somebody did not open in time: these seats are free again."""

    deal: int
    seats: tuple[int, ...]


class Dealt(_Event, frozen=True):
    """The game begins: its first events are in the same commit."""

    deal: int


class TimedOut(_Event, frozen=True):
    seat: int


class GameOver(_Event, frozen=True):
    scores: tuple[int, ...]
    places: tuple[int, ...]


class RoomClosed(_Event, frozen=True):
    reason: str


class SecretRevealed(_Event, frozen=True):
    secret: bytes


RoomEvent: TypeAlias = (
    RoomCreated
    | PersonSat
    | BotSat
    | SeatLeft
    | HostPassed
    | SeatReady
    | Sealed
    | NonceOpened
    | DealCancelled
    | Dealt
    | TimedOut
    | GameOver
    | RoomClosed
    | SecretRevealed
)

PUBLIC_FIELDS: dict[type[RoomEvent], tuple[str, ...]] = {
    RoomCreated: ("game", "version", "seats", "uid", "commitment"),
    PersonSat: ("seat", "name", "nonce_hash"),
    BotSat: ("seat", "level"),
    SeatLeft: ("seat",),
    HostPassed: ("seat",),
    SeatReady: ("seat", "ready", "nonce_hash"),
    Sealed: ("deal", "nonce_hashes"),
    NonceOpened: ("seat", "nonce"),
    DealCancelled: ("deal", "seats"),
    Dealt: ("deal",),
    TimedOut: ("seat",),
    GameOver: ("scores", "places"),
    RoomClosed: ("reason",),
    SecretRevealed: ("secret",),
}
"""The allow-list: a field that is not named here reaches nobody."""

_NAMES = {kind: event_name(kind.__name__) for kind in PUBLIC_FIELDS}

UPCASTERS: Final[Upcasters] = {}
"""What events are today that were once stored in another form: there is none yet. An event keeps
the name under which it is told to clients, whatever it is stored as."""


def facts(event: RoomEvent) -> tuple[object, ...]:
    """What everybody may know of the event, as plain data."""
    kind = type(event)
    return (_NAMES[kind], *(_plain(getattr(event, name)) for name in PUBLIC_FIELDS[kind]))


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return base64url(value)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value


class Commit(msgspec.Struct, frozen=True, array_like=True):
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
