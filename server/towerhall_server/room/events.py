"""Everything that can happen to a room around its game.

These are stored for ever and written as arrays: a name, then the fields in this order. A field is
never moved or removed; a new one comes last and has a default; an event that changes otherwise is
stored under a new name, and `UPCASTERS` says what the old one is today. Whatever a newer server
wrote is refused rather than read in part: that room is for others to serve.
"""

from typing import Any, Final, TypeAlias

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_server.game import event_name
from towerhall_server.upcasting import Upcasters


class Settings(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is agreed about a room besides the options of its game."""

    turn_seconds: int = 0
    """0: no clock."""
    bot_delay_ms: int = 600


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
    reserved: tuple[str, ...] = ()
    """For each seat the only identity that may sit there; nothing: anybody, at every seat."""
    bots: tuple[str, ...] = ()
    """For each seat the level of the bot that sits there from the beginning, if one does."""
    quick: bool = False
    """Whether it starts by itself as soon as all seats are taken and ready."""
    previous: str = ""
    """The code of the room whose people play again here."""
    operator: str = ""
    """Whose lobby the room belongs to; nothing: to nobody's."""


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


class SeatKicked(_Event, frozen=True):
    """The host has sent the person in that seat away: they do not sit down here again."""

    seat: int


class HostPassed(_Event, frozen=True):
    """The host left, or is away, and the person in that seat is host now."""

    seat: int


class OptionsChanged(_Event, frozen=True):
    """The host wants another game: everybody has to agree anew."""

    options: dict[str, Any]
    settings: Settings


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


class SeatWoke(_Event, frozen=True):
    """The person in that seat plays again after having been timed out."""

    seat: int


class BotStoodIn(_Event, frozen=True):
    """A bot plays for the person in that seat, until they take it back."""

    seat: int
    level: str


class SeatTakenBack(_Event, frozen=True):
    seat: int


class SeatResigned(_Event, frozen=True):
    """The person in that seat has lost; a bot plays on for them, so that the others can."""

    seat: int
    level: str


class EndWanted(_Event, frozen=True):
    """The person in that seat would end the game without a result, or would no more."""

    seat: int
    wanted: bool


class GameOver(_Event, frozen=True):
    scores: tuple[int, ...]
    places: tuple[int, ...]


class RoomClosed(_Event, frozen=True):
    reason: str


class SecretRevealed(_Event, frozen=True):
    secret: bytes


class RematchMade(_Event, frozen=True):
    """The same people can play again in the room of that code."""

    code: str


RoomEvent: TypeAlias = (
    RoomCreated
    | PersonSat
    | BotSat
    | SeatLeft
    | SeatKicked
    | HostPassed
    | OptionsChanged
    | SeatReady
    | Sealed
    | NonceOpened
    | DealCancelled
    | Dealt
    | TimedOut
    | SeatWoke
    | BotStoodIn
    | SeatTakenBack
    | SeatResigned
    | EndWanted
    | GameOver
    | RoomClosed
    | SecretRevealed
    | RematchMade
)

PUBLIC_FIELDS: dict[type[RoomEvent], tuple[str, ...]] = {
    RoomCreated: ("game", "version", "seats", "uid", "commitment"),
    PersonSat: ("seat", "name", "nonce_hash"),
    BotSat: ("seat", "level"),
    SeatLeft: ("seat",),
    SeatKicked: ("seat",),
    HostPassed: ("seat",),
    OptionsChanged: ("options", "settings"),
    SeatReady: ("seat", "ready", "nonce_hash"),
    Sealed: ("deal", "nonce_hashes"),
    NonceOpened: ("seat", "nonce"),
    DealCancelled: ("deal", "seats"),
    Dealt: ("deal",),
    TimedOut: ("seat",),
    SeatWoke: ("seat",),
    BotStoodIn: ("seat", "level"),
    SeatTakenBack: ("seat",),
    SeatResigned: ("seat", "level"),
    EndWanted: ("seat", "wanted"),
    GameOver: ("scores", "places"),
    RoomClosed: ("reason",),
    SecretRevealed: ("secret",),
    RematchMade: ("code",),
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
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    return value
