"""Everything that can happen to a room around its game.

They are stored permanently, as arrays: a name, then all fields in this order. An event
whose fields change is stored under a new name, and `UPCASTERS` says what the old one is today.
An event of a newer server is refused, not read in part: newer servers serve that room.
"""

from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_server.game import event_name
from towerhall_server.upcasting import Upcasters

S = TypeVar("S", bound=msgspec.Struct)


def derived(kind: type[S], source: msgspec.Struct, **changed: Any) -> S:
    """A struct of that kind: the fields that it shares with `source`, and the changed ones.

    `Plan`, `RoomCreated` and `Table` share what a room is created with. A new field of this sort is
    declared in the three structs, and is copied here.
    """
    shared = set(kind.__struct_fields__).intersection(source.__struct_fields__) - changed.keys()
    return kind(**{name: getattr(source, name) for name in shared}, **changed)


class Settings(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The settings of a room besides the options of its game."""

    turn_seconds: int = 0
    """0: no clock."""
    bot_delay_ms: int = 600
    beat_ms: int = 0
    """Milliseconds more for a bot that moves after a result, so that people see it."""
    bot_accounts: bool = False
    """Whether bot accounts may sit without an invitation."""
    rated: bool = False
    """Whether the game counts for ratings. Who sits down agrees; bots may not."""
    sandbox: int = 0
    """0: an ordinary room. Else a sandbox room: the factor by which clocks are faster (P-190)."""

    def hurried(self, ms: int) -> int:
        """The milliseconds of service time that a wait of this room takes."""
        return ms // self.sandbox if self.sandbox else ms

    @property
    def turn_ms(self) -> int:
        """The service time for a decision; 0: no clock."""
        return self.hurried(1000 * self.turn_seconds)


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
    """For each seat the only identity that may sit there; empty: no seat is reserved."""
    bots: tuple[str, ...] = ()
    """For each seat the level of its bot from the beginning, or an empty text."""
    quick: bool = False
    """Whether it starts by itself as soon as all seats are taken and ready."""
    previous: str = ""
    """The code of the room whose people play again here."""
    operator: str = ""
    """The operator to whose lobby the room belongs; empty: none."""
    aliased: bool = False
    """Whether this log names people by aliases, which others may see, and not by their ids."""


class PersonSat(_Event, frozen=True):
    seat: int
    identity: str
    name: str
    nonce_hash: bytes = b""


class BotAccountMarked(_Event, frozen=True):
    """The person who has just sat down in that seat is a bot account."""

    seat: int


class PersonInvited(_Event, frozen=True):
    """The host has invited that person."""

    id: str


class PersonRenamed(_Event, frozen=True):
    """The person in that seat has another name from now on."""

    seat: int
    name: str


class BotSat(_Event, frozen=True):
    seat: int
    level: str


class SeatLeft(_Event, frozen=True):
    seat: int


class SeatKicked(_Event, frozen=True):
    """The host has sent the person in that seat away: they may not be here until let in again."""

    seat: int


class PersonAdmitted(_Event, frozen=True):
    """A person who was sent away may come in again."""

    id: str


class PersonMuted(_Event, frozen=True):
    """The chat of that person is blocked, or free again."""

    id: str
    muted: bool


class HostPassed(_Event, frozen=True):
    """The host left, or is away, and the person in that seat is host now."""

    seat: int


class OptionsChanged(_Event, frozen=True):
    """The host has changed the game: all players have to get ready again."""

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
    """These seats did not open their nonces in time, and are free again."""

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
    | BotAccountMarked
    | PersonInvited
    | PersonRenamed
    | BotSat
    | SeatLeft
    | SeatKicked
    | PersonAdmitted
    | PersonMuted
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
    BotAccountMarked: ("seat",),
    PersonInvited: ("id",),
    PersonRenamed: ("seat", "name"),
    BotSat: ("seat", "level"),
    SeatLeft: ("seat",),
    SeatKicked: ("seat",),
    PersonAdmitted: ("id",),
    PersonMuted: ("id", "muted"),
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
"""The allow-list: a field that is not named here is never sent."""

_NAMES = {kind: event_name(kind.__name__) for kind in PUBLIC_FIELDS}

UPCASTERS: Final[Upcasters] = {}
"""Conversions of events that were stored in an older form: there are none yet. The name that
clients get stays the same."""


def facts(event: RoomEvent) -> tuple[object, ...]:
    """The public fields of an event, as plain data."""
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
