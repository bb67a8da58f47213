"""The room part of a view (P-60 to P-64), as types: for schemas and for typed clients.

A view is a plain document, and clients of this project keep it as one. These types say which keys
it has. A key with a default may be left out. Games describe their own part.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from towerhall_protocol.document import Document

RoomStatus: TypeAlias = Literal["waiting", "sealed", "playing", "over"]


class HolderView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A holder of a seat (P-62)."""

    name: str
    id: str = ""
    bot: str = ""
    ready: bool = False
    nonce: Literal["", "sealed", "open"] = ""
    stand_in: str = ""
    timeouts: int = 0
    resigned: bool = False
    wants_end: bool = False
    bot_account: bool = False


class ResultView(msgspec.Struct, frozen=True):
    """A result by seat. Equal places share."""

    scores: tuple[int, ...]
    places: tuple[int, ...]


class RoomView(msgspec.Struct, frozen=True, omit_defaults=True):
    """The room (P-61)."""

    code: str
    game: str
    version: int
    uid: str
    commitment: str
    status: RoomStatus
    size: int
    seats: Mapping[str, HolderView]
    turn_seconds: int = 0
    bot_delay_ms: int = 600
    beat_ms: int = 0
    sandbox: int = 0
    rated: bool = False
    host: int | None = None
    deal: int = 0
    options: Document = {}
    result: ResultView | None = None
    closed: str = ""
    secret: str = ""
    quick: bool = False
    kicked: Mapping[str, str] = {}
    muted: Mapping[str, bool] = {}
    reserved: tuple[int, ...] = ()
    previous: str = ""
    rematch: str = ""
    bot_accounts: bool = False
    invited: Mapping[str, bool] = {}


class ClockView(msgspec.Struct, frozen=True):
    """The clock of a decision (P-64)."""

    due: int


class View(msgspec.Struct, frozen=True, omit_defaults=True):
    """A whole view (P-60). Each game has a schema of its part."""

    room: RoomView
    game: Document = {}
    clock: ClockView | None = None
