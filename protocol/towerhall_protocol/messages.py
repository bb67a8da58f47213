"""Every message between client and server, named by who sends it.

A message is an array: its name, then the fields in the order of the class (P-5). New fields are
added at the end and have a default; a receiver ignores items that it does not know, so old and new
understand each other. Greetings carry one map instead, because they are rare and grow.

Only the shapes live here. What they mean stands in `protocol/SPEC.md`, how bytes become documents
in `codec`, and what a client does with them in `replay`.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from towerhall_protocol.document import Document, Patch
from towerhall_protocol.offers import Offer


class Cursor(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a client stands (P-20). `base` means nothing to a client: it is only handed back."""

    base: str
    seq: int
    mark: str


class Greeting(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who the client is and where it stands."""

    token: str
    level: int
    origin: str
    """8 random bytes as base64url: one per client instance, for the numbering of commands."""
    cursor: Cursor | None = None
    """Absent: send me the whole view."""
    key: str = ""
    """Of a private room; from the fragment of its link."""


class ClientHello(msgspec.Struct, frozen=True, array_like=True, tag="hello"):
    """The first message of every connection."""

    greeting: Greeting


class ClientCommand(msgspec.Struct, frozen=True, array_like=True, tag="command"):
    """Something to be done: `body` is a map with the command's name under `command`."""

    n: int
    """1, 2, 3 ... for each origin; the answer names it."""
    tag: str
    """Of the offers that this answers; empty for commands of the room."""
    body: dict[str, Any]
    dry: bool = False
    """Only say what would happen."""


class ClientHistory(msgspec.Struct, frozen=True, array_like=True, tag="history"):
    """The frames from one seq to another, both included, please."""

    first: int
    last: int


class ClientChat(msgspec.Struct, frozen=True, array_like=True, tag="chat"):
    text: str


EMOTES: Final = (
    "hello", "thanks", "sorry", "well_played", "good_game", "oops", "wow", "laugh", "hurry",
    "thinking",
)  # fmt: skip
"""What can be said without words (P-98); clients have a picture or a word for each."""


class ClientEmote(msgspec.Struct, frozen=True, array_like=True, tag="emote"):
    """One of `EMOTES`."""

    emote: str


class ClientPing(msgspec.Struct, frozen=True, array_like=True, tag="ping"):
    """I am here, and this is the seq that I have applied."""

    seq: int


ClientMessage: TypeAlias = (
    ClientHello | ClientCommand | ClientHistory | ClientChat | ClientEmote | ClientPing
)


class Arrival(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who the server takes the client for, and what the client shall start from."""

    you: str
    name: str
    level: int
    now: tuple[int, int]
    """Wall clock of the server and service clock of the room, in ms."""
    cursor: Cursor
    """Where the client stands after this message; missed frames follow as ordinary frames."""
    view: Document | None = None
    """Absent: go on with the view that you have."""
    seat: int | None = None
    """Absent: you are watching."""
    lost: int = 0
    """How many commits, known to this client, the store has lost."""
    online: tuple[int, ...] = ()
    watchers: int = 0
    paused: bool = False


class ServerWelcome(msgspec.Struct, frozen=True, array_like=True, tag="welcome"):
    arrival: Arrival


class ServerFrame(msgspec.Struct, frozen=True, array_like=True, tag="frame"):
    """One commit: what happened, for people; what changed, for machines."""

    seq: int
    mark: str
    cause: tuple[Any, ...]
    """`[seat, origin, n]` of the command (seat -1: nobody's), `[seat]` if the service acted for a
    seat, `[]` if it acted for the room."""
    facts: tuple[tuple[Any, ...], ...]
    patch: Patch


class ServerOffers(msgspec.Struct, frozen=True, array_like=True, tag="offers"):
    """What this seat may do now. They replace all earlier ones."""

    seq: int
    tag: str
    offers: tuple[Offer, ...]


class ServerRejected(msgspec.Struct, frozen=True, array_like=True, tag="rejected"):
    """A command that was not done, and will not be."""

    n: int
    code: str
    rule: str
    params: Mapping[str, int | str]
    hint: str


class ServerDuplicate(msgspec.Struct, frozen=True, array_like=True, tag="duplicate"):
    """A command that was done before, in that commit."""

    n: int
    seq: int


class ServerAccepted(msgspec.Struct, frozen=True, array_like=True, tag="accepted"):
    """The answer to a dry run: the command would be done, with this effect."""

    n: int
    effect: Document


class ServerHistory(msgspec.Struct, frozen=True, array_like=True, tag="history"):
    """A page of old frames: each is a frame message. `last` is the last seq that there was to
    give; if the page ends before it, there is more to ask for."""

    frames: tuple[ServerFrame, ...]
    last: int


class ServerReset(msgspec.Struct, frozen=True, array_like=True, tag="reset"):
    """Forget the view and take this one: the store lost that many commits, or (0) you were too
    slow, or you see with other eyes since you sat down or stood up."""

    cursor: Cursor
    view: Document
    lost: int


class ServerSeat(msgspec.Struct, frozen=True, array_like=True, tag="seat"):
    """Which seat is yours from now on; -1 if none."""

    seat: int


class ServerPresence(msgspec.Struct, frozen=True, array_like=True, tag="presence"):
    """Who is connected: all seats, and how many watch. Not part of the log."""

    online: tuple[int, ...]
    watchers: int


class ServerChat(msgspec.Struct, frozen=True, array_like=True, tag="chat"):
    id: str
    name: str
    seat: int
    text: str
    wall_ms: int


class ServerEmote(msgspec.Struct, frozen=True, array_like=True, tag="emote"):
    """Somebody said one of `EMOTES`. It is kept nowhere."""

    name: str
    seat: int
    emote: str


class ServerPaused(msgspec.Struct, frozen=True, array_like=True, tag="paused"):
    """The store does not answer: keep what you sent, clocks stand still. Or: it does again."""

    paused: bool


class ServerGo(msgspec.Struct, frozen=True, array_like=True, tag="go"):
    """This server is about to close: connect again within that many ms, at a random moment."""

    within_ms: int


class ServerPong(msgspec.Struct, frozen=True, array_like=True, tag="pong"):
    seq: int
    now: tuple[int, int]


class ServerError(msgspec.Struct, frozen=True, array_like=True, tag="error"):
    """Something about the connection or a message that is no command. If a close follows, the
    close code says whether to come back."""

    code: str
    params: Mapping[str, int | str]
    hint: str


ServerMessage: TypeAlias = (
    ServerWelcome
    | ServerFrame
    | ServerOffers
    | ServerRejected
    | ServerDuplicate
    | ServerAccepted
    | ServerHistory
    | ServerReset
    | ServerSeat
    | ServerPresence
    | ServerChat
    | ServerEmote
    | ServerPaused
    | ServerGo
    | ServerPong
    | ServerError
)
