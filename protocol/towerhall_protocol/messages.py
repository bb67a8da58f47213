"""Every message between client and server, named by who sends it.

A message is an array: its name, then the fields in the order of the class (P-5). New fields are
added at the end and have a default; a receiver ignores items that it does not know, so old and new
understand each other. Greetings carry one map instead, because they are rare and grow.

Only the shapes live here. Their meaning stands in `protocol/SPEC.md`, how bytes become documents
in `codec`, and what a client does with them in `replay`.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from towerhall_protocol.document import Document, Patch
from towerhall_protocol.offers import Offer


class Cursor(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The position of a client (P-20). `base` is opaque: the client only returns it."""

    base: str
    seq: int
    mark: str


class Greeting(msgspec.Struct, frozen=True, omit_defaults=True):
    """The identity and the position of the client."""

    token: str
    level: int
    origin: str
    """8 random bytes as base64url: one per client instance, for the numbering of commands."""
    cursor: Cursor | None = None
    """Absent: send me the whole view."""
    key: str = ""
    """Key of a private room, from the fragment of its link."""


class ClientHello(msgspec.Struct, frozen=True, array_like=True, tag="hello"):
    """The first message of every connection."""

    greeting: Greeting


class ClientCommand(msgspec.Struct, frozen=True, array_like=True, tag="command"):
    """Something to be done: `body` is a map with the command's name under `command`."""

    n: int
    """1, 2, 3 ... for each origin; the answer names it."""
    tag: str
    """Tag of the offers that this answers; empty for commands to the room."""
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
"""Reactions without words (P-98); clients show a picture or a word for each."""


class ClientEmote(msgspec.Struct, frozen=True, array_like=True, tag="emote"):
    """One of `EMOTES`."""

    emote: str


class ClientSign(msgspec.Struct, frozen=True, array_like=True, tag="sign"):
    """Sign the place where the room is now, please."""


class ClientPing(msgspec.Struct, frozen=True, array_like=True, tag="ping"):
    """I am here, and this is the seq that I have applied."""

    seq: int


class ClientSandbox(msgspec.Struct, frozen=True, array_like=True, tag="sandbox"):
    """Treat me badly, so that my author can see what I do (P-191)."""

    act: str
    """`drop`, `pause` or `lose`."""
    number: int
    """Milliseconds of a pause, or commits to lose; 0 for `drop`."""


ClientMessage: TypeAlias = (
    ClientHello
    | ClientCommand
    | ClientHistory
    | ClientChat
    | ClientEmote
    | ClientSign
    | ClientPing
    | ClientSandbox
)


class Arrival(msgspec.Struct, frozen=True, omit_defaults=True):
    """The identity of the client at the server, and its starting point."""

    you: str
    name: str
    level: int
    now: tuple[int, int]
    """Wall clock of the server and service clock of the room, in ms."""
    cursor: Cursor
    """The position of the client after this message; missed frames follow as ordinary frames."""
    view: Document | None = None
    """Absent: go on with the view that you have."""
    seat: int | None = None
    """Absent: you are watching."""
    lost: int = 0
    """How many commits, known to this client, the store has lost."""
    online: tuple[int, ...] = ()
    watchers: int = 0
    paused: bool = False
    chain: tuple[int, str] | None = None
    """The newest commit, and the whole chain up to it; only for level 4 and above."""
    shared: bool = False
    """All viewers of this room see the same."""
    private: bool = False
    """The room opens by its key only, so its code alone leads no other person in."""


class ServerWelcome(msgspec.Struct, frozen=True, array_like=True, tag="welcome"):
    arrival: Arrival


class ServerFrame(msgspec.Struct, frozen=True, array_like=True, tag="frame"):
    """One commit: what happened, for people; what changed, for machines."""

    seq: int
    mark: str
    cause: tuple[Any, ...]
    """`[seat, origin, n]` of the command (seat -1: no seat), `[seat]` if the service acted for a
    seat, `[]` if it acted for the room."""
    facts: tuple[tuple[Any, ...], ...]
    patch: Patch


class ServerChain(msgspec.Struct, frozen=True, array_like=True, tag="chain"):
    """The whole chain up to a commit, of which frames have only the mark (P-99)."""

    seq: int
    chain: str
    key: str = ""
    """The server's, if it has signed this place; else both are empty."""
    signature: str = ""


class ServerOffers(msgspec.Struct, frozen=True, array_like=True, tag="offers"):
    """The legal commands of this seat. They replace all earlier offers."""

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


class ServerSearching(msgspec.Struct, frozen=True, array_like=True, tag="searching"):
    """A command needs a search, which waits in the queue behind this many others."""

    n: int
    ahead: int
    """0: the search has begun."""


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
    """The connected seats and the number of watchers. Not part of the log."""

    online: tuple[int, ...]
    watchers: int
    away_ms: tuple[int, ...] = ()
    """For each seat the milliseconds for which it has had no connection."""


class ServerChat(msgspec.Struct, frozen=True, array_like=True, tag="chat"):
    id: str
    name: str
    seat: int
    text: str
    wall_ms: int
    who: str = ""
    """The id of the speaker in this room (P-19)."""


class ServerEmote(msgspec.Struct, frozen=True, array_like=True, tag="emote"):
    """A person sent one of `EMOTES`. It is not stored."""

    name: str
    seat: int
    emote: str
    who: str = ""


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
    rule: str = ""
    """The clause of the specification that the code rests on."""


ServerMessage: TypeAlias = (
    ServerWelcome
    | ServerFrame
    | ServerChain
    | ServerOffers
    | ServerRejected
    | ServerDuplicate
    | ServerAccepted
    | ServerSearching
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
