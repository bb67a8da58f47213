"""The answers over HTTP (section 14, 17 and 18 of the specification), as types.

The server answers with plain documents. These types say which keys they have, for schemas and for
typed clients. A key with a default may be left out, and later levels add keys.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.views import ResultView, RoomStatus


class ErrorBody(msgspec.Struct, frozen=True):
    """A refusal (P-111)."""

    code: str
    params: Mapping[str, int | str]
    hint: str
    rule: str
    """The clause on which the code rests."""
    doc: str
    """The path at which every server shows that clause."""


class ErrorAnswer(msgspec.Struct, frozen=True):
    error: ErrorBody


class TokenAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token (P-112). It ends at the wall time `expires`, in ms."""

    token: str
    id: str
    name: str
    expires: int
    bot_account: bool = False
    device: str = ""


class UsedLinkAnswer(TokenAnswer, frozen=True, omit_defaults=True):
    room: str = ""


class LinkAnswer(msgspec.Struct, frozen=True):
    link: str
    expires: int


class PersonAnswer(msgspec.Struct, frozen=True):
    id: str


class OptionAnswer(msgspec.Struct, frozen=True):
    values: tuple[str | bool | int, ...]
    default: str | bool | int
    text: str
    texts: tuple[str, ...]


class ReasonAnswer(msgspec.Struct, frozen=True):
    rule: str
    hint: str


class FieldAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One field of a fact, or one parameter of a command."""

    name: str
    type: str
    optional: bool = False


class FactAnswer(msgspec.Struct, frozen=True):
    """A fact: its fields in order, and an English sentence whose braces name them."""

    fields: tuple[FieldAnswer, ...]
    text: str


class CommandAnswer(msgspec.Struct, frozen=True):
    """A command: its parameters, and an English sentence."""

    parameters: tuple[FieldAnswer, ...]
    text: str


class GameAnswer(msgspec.Struct, frozen=True):
    """A game (P-113)."""

    name: str
    text: str
    version: int
    seats: tuple[int, int]
    options: Mapping[str, OptionAnswer]
    presets: Mapping[str, Document]
    preset_texts: Mapping[str, str]
    levels: tuple[str, ...]
    level_texts: Mapping[str, str]
    reasons: Mapping[str, ReasonAnswer]
    commands: Mapping[str, CommandAnswer]
    facts: Mapping[str, FactAnswer]


class LevelAnswer(msgspec.Struct, frozen=True):
    oldest: int
    newest: int


class ClocksAnswer(msgspec.Struct, frozen=True):
    turn_seconds: tuple[tuple[int, int], ...]
    bot_delay_ms: tuple[tuple[int, int], ...]
    beat_ms: tuple[tuple[int, int], ...]


class SandboxAnswer(msgspec.Struct, frozen=True):
    """What a sandbox takes (P-113): the least and the most of each number."""

    speed: tuple[int, int]
    pause_ms: tuple[int, int]
    commits: tuple[int, int]


class GamesAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    games: tuple[GameAnswer, ...]
    level: LevelAnswer
    clocks: ClocksAnswer
    limits: Mapping[str, int]
    sandbox: SandboxAnswer | None = None


class ListedRoom(msgspec.Struct, frozen=True, omit_defaults=True):
    """A room in a list (P-114)."""

    code: str
    game: str
    status: RoomStatus
    seats: int
    taken: int
    names: tuple[str, ...]
    turn_seconds: int = 0
    bot_delay_ms: int = 600
    beat_ms: int = 0
    bot_accounts: bool = False
    bot_accounts_at: tuple[int, ...] = ()
    sandbox: int = 0
    rated: bool = False


class OneRoom(ListedRoom, frozen=True, omit_defaults=True):
    """One room (P-116)."""

    host: str = ""


class OwnRoom(ListedRoom, frozen=True, omit_defaults=True, kw_only=True):
    """A room of the person who asks (P-148)."""

    to_act: tuple[int, ...]
    your_turn: bool
    seat: int | None = None
    host: bool = False
    private: bool = False
    left_ms: int | None = None
    place: int | None = None
    gone: bool = False


class RoomsAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    rooms: tuple[ListedRoom, ...]
    more: int = 0
    """Number of rooms behind this page."""
    next: str = ""
    """`after` of the next page."""


class FeaturedRoom(ListedRoom, frozen=True, omit_defaults=True):
    watchers: int = 0


class LiveAnswer(RoomsAnswer, frozen=True, omit_defaults=True):
    """Games at play (P-220)."""

    featured: FeaturedRoom | None = None


class LookAnswer(msgspec.Struct, frozen=True):
    """What a watcher of a room sees (P-221)."""

    seq: int
    view: Document


class OwnRoomsAnswer(msgspec.Struct, frozen=True):
    rooms: tuple[OwnRoom, ...]


class SignedPlace(msgspec.Struct, frozen=True):
    seq: int
    chain: str
    key: str
    signature: str


class NewRoomAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A new room (P-115)."""

    code: str
    uid: str
    commitment: str
    invite: str
    key: str = ""
    signed: SignedPlace | None = None


class QuickplayAnswer(msgspec.Struct, frozen=True):
    code: str
    seat: int
    invite: str


class HealthAnswer(msgspec.Struct, frozen=True):
    status: Literal["ok"]


class ReadyAnswer(HealthAnswer, frozen=True):
    rooms: int


class PublishedKeyAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    key: str
    public: str
    since_ms: int
    until_ms: int | None = None


class PublicLogAnswer(msgspec.Struct, frozen=True):
    path: str
    key: str
    witnesses: tuple[str, ...]


class WellKnownAnswer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    levels: LevelAnswer
    keys: tuple[PublishedKeyAnswer, ...]
    origin: str = ""
    log: PublicLogAnswer | None = None


class WitnessAnswer(msgspec.Struct, frozen=True):
    name: str
    size: int
    time: int


class LogAnswer(msgspec.Struct, frozen=True):
    """The public log in numbers (P-183)."""

    origin: str
    size: int
    opened: int
    ended: int
    dropped: int
    open: int
    open_long: int
    long_days: int
    witnesses: tuple[WitnessAnswer, ...]
    cosigned: str


class CosignedAnswer(msgspec.Struct, frozen=True):
    size: int


class JoiningAnswer(TokenAnswer, frozen=True, kw_only=True):
    """A token for a person of an operator (P-164)."""

    external_id: str


class OperatorSeatAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seat of a new room: a person with a token, a bot, or nothing."""

    external_id: str = ""
    id: str = ""
    name: str = ""
    token: str = ""
    expires: int = 0
    bot: str = ""


class NewOperatorRoomAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A new room of an operator (P-162)."""

    code: str
    uid: str
    commitment: str
    invite: str
    seats: tuple[OperatorSeatAnswer, ...]
    key: str = ""


class SeatState(msgspec.Struct, frozen=True, omit_defaults=True):
    taken: bool
    id: str = ""
    external_id: str = ""
    name: str = ""
    bot: str = ""
    ready: bool = False
    resigned: bool = False
    stand_in: str = ""


class RoomState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A room as its operator gets it (P-165)."""

    code: str
    uid: str
    game: str
    version: int
    options: Document
    turn_seconds: int
    status: RoomStatus
    seq: int
    now: tuple[int, int]
    seats: tuple[SeatState, ...]
    turn: tuple[int, ...]
    due: int | None = None
    result: ResultView | None = None
    closed: str = ""
    previous: str = ""
    rematch: str = ""


class Delivery(msgspec.Struct, frozen=True):
    """The body of a webhook (P-168)."""

    id: str
    kind: Literal["turn", "end", "abandoned"]
    room: RoomState


class BanAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    time: int
    reason: str
    scope: Literal["service", "rooms"]
    external_id: str = ""


class BansAnswer(msgspec.Struct, frozen=True):
    bans: tuple[BanAnswer, ...]
