"""The effects of server messages for a client: the results of `Replay.receive`.

They are for showing and for acting on. The state they lead to is in the `Replay` already when
they are returned, so a caller that needs only the state may ignore them all.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import ServerFrame
from towerhall_protocol.offers import Offer


class Synced(msgspec.Struct, frozen=True):
    """The connection stands. Unanswered commands are to be sent again, in order."""

    seq: int
    replaced: bool
    """Whether the view is a new one; if not, missed frames follow."""
    lost: int
    """How many commits that this client knew are gone for ever."""


class Reset(msgspec.Struct, frozen=True):
    """The view was replaced in mid-connection. Unanswered commands are to be sent again."""

    seq: int
    lost: int


class Moved(msgspec.Struct, frozen=True):
    """A commit was added to the view."""

    seq: int
    cause: tuple[Any, ...]
    facts: tuple[tuple[Any, ...], ...]
    own: int | None
    """The number of the command of this client that caused it."""


class ChainCame(msgspec.Struct, frozen=True):
    """The whole chain up to a commit, with the server's signature if it has given one."""

    seq: int
    chain: str
    key: str
    signature: str


class Answered(msgspec.Struct, frozen=True):
    """A command of this client was done, in that commit."""

    n: int
    seq: int


class DryAnswered(msgspec.Struct, frozen=True):
    """A dry run would be done, with this effect."""

    n: int
    effect: Document


class Searching(msgspec.Struct, frozen=True):
    """A command of this client waits in the queue of searches behind this many others."""

    n: int
    ahead: int
    """0: its own search has begun."""


class Rejected(msgspec.Struct, frozen=True):
    """A command of this client was not done, and will not be."""

    n: int
    code: str
    rule: str
    params: Mapping[str, int | str]
    hint: str


class OffersCame(msgspec.Struct, frozen=True):
    """It is this client's turn, with these choices."""

    seq: int
    offers: tuple[Offer, ...]


class SeatChanged(msgspec.Struct, frozen=True):
    seat: int | None


class PresenceChanged(msgspec.Struct, frozen=True):
    online: tuple[int, ...]
    watchers: int


class ChatSaid(msgspec.Struct, frozen=True):
    id: str
    name: str
    seat: int | None
    text: str
    wall_ms: int
    who: str = ""
    """The id of the speaker in this room; names may be shared."""


class EmoteCame(msgspec.Struct, frozen=True):
    """A person sent one of `messages.EMOTES`; later levels may add emotes."""

    name: str
    seat: int | None
    emote: str
    who: str = ""


class Paused(msgspec.Struct, frozen=True):
    """The store does not answer, or does again: nothing is lost, clocks stand still."""

    paused: bool


class MustGo(msgspec.Struct, frozen=True):
    """Connect again within that many ms, at a random moment."""

    within_ms: int


class HistoryCame(msgspec.Struct, frozen=True):
    """A page of old frames. The next page begins after its last frame, up to `last`."""

    frames: tuple[ServerFrame, ...]
    last: int


class PongCame(msgspec.Struct, frozen=True):
    seq: int
    now: tuple[int, int]


class ErrorCame(msgspec.Struct, frozen=True):
    """A complaint about the connection, or about a message that is no command."""

    code: str
    params: Mapping[str, int | str]
    hint: str


class Faulted(msgspec.Struct, frozen=True):
    """The server broke the protocol: close and connect again. The cursor is dropped already, so
    the next welcome brings the whole view."""

    reason: str


Update: TypeAlias = (
    Synced
    | Reset
    | Moved
    | ChainCame
    | Answered
    | DryAnswered
    | Searching
    | Rejected
    | OffersCame
    | SeatChanged
    | PresenceChanged
    | ChatSaid
    | EmoteCame
    | Paused
    | MustGo
    | HistoryCame
    | PongCame
    | ErrorCame
    | Faulted
)
