"""News between nodes: each new entry is published, and every node with the room open receives it.

A message saves a read if it is the next entry; the log stays the truth. Messages during a break of
the subscription are lost silently. Every subscription begins with "anything may have happened",
and the listener reads its rooms again. Each node also publishes a heartbeat every second. It hears
its own, so silence means a dead subscription: it reads again then, too.

Presence comes the same way. A message begins with the names of its sender and its room, so that own
messages, and those of rooms that are not open here, are dropped cheaply. A node that has heard only
itself for a while stops listening to rooms, for it made all their commits, and does not publish its
moves. The first message of another node makes it do both again; that node reads its rooms again
after a second without news. Lines of chat have a channel of their own, on which every node hears
all of them, including its own. Their order is the same everywhere. The lobby's entries of rooms
change rarely and also have a channel. A cluster has channels for each shard instead: see
`shard_news`.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from time import monotonic
from typing import Any, Final, TypeAlias

import msgpack
import msgspec

from towerhall_server.eventlog.answers import Line, line_of
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.eventlog.keys import (
    CHAT,
    LOBBY,
    ME,
    MEMORY,
    NODES,
    PEOPLE,
    SHARDS,
    shard_keys,
)
from towerhall_server.store.connection import Wire, open_wire
from towerhall_server.store.errors import StoreError
from towerhall_server.store.opening import listening_place, may_move
from towerhall_server.store.resp import packed

ENTRY, GUESTS = b"e", b"g"
"""The kind of a message: its first letter after the names."""
PLACE, MORE, ALL = b"p", b"+", b"="
"""The kind of a message about persons: its first letter."""
DOUBT_SECONDS: Final = 2.0
MOST_SILENCES: Final = 2
"""Silences in a row after which a listener asks anew where to listen, if that may change: an engine
that was demoted or cut off publishes nothing, and says nothing about it."""
LOOK_SECONDS: Final = 0.05
"""Seconds, at least, between two checks of the same silence."""
ALONE_BEATS: Final = 3
"""Own heartbeats in a row, without another node's, before a node takes itself to be alone."""

_WAKES: Final = [shard_keys(shard).wake for shard in range(SHARDS)]
_LISTEN: Final = packed("SUBSCRIBE", *_WAKES)
_REST: Final = packed("UNSUBSCRIBE", *_WAKES)
_NODES: Final = NODES.encode()
_CHAT: Final = CHAT.encode()
_LOBBY: Final = LOBBY.encode()
_MEMORY: Final = MEMORY.encode()
_PEOPLE: Final = PEOPLE.encode()
_ME: Final = ME.encode()
_OF_ALL: Final = (NODES, LOBBY, MEMORY, PEOPLE, ME)
"""Channels of what concerns every node."""
_ALWAYS: Final = (*_OF_ALL, CHAT)


class Woken(msgspec.Struct, frozen=True, gc=False):
    """A room has a new entry."""

    room: str
    packed: bytes

    @property
    def entry(self) -> Entry:
        seq, commit_id, chain, blob, wall_ms, served_ms = msgpack.unpackb(self.packed, raw=True)
        return Entry(seq, commit_id, chain, blob, Stamps(wall_ms, served_ms))


class Said(msgspec.Struct, frozen=True, gc=False):
    """A line of chat in a room."""

    room: str
    line: Line


class Listed(msgspec.Struct, frozen=True, gc=False):
    """The lobby's entry of a room from now on; empty if the room is not listed."""

    room: str
    summary: bytes


class Told(msgspec.Struct, frozen=True, gc=False):
    """Another node's viewers of a room."""

    room: str
    node: str
    guests: bytes


class Alive(msgspec.Struct, frozen=True, gc=False):
    """Another node is alive."""

    node: str


class Counted(msgspec.Struct, frozen=True, gc=False):
    """The number of people who are connected to a node."""

    node: str
    people: int


class Concerned(msgspec.Struct, frozen=True, gc=False):
    """A person has this place in a room from that seq on; empty: none any more."""

    person: str
    room: str
    seq: int
    place: bytes


class Followed(msgspec.Struct, frozen=True, gc=False):
    """These persons follow on a node what concerns them."""

    node: str
    people: frozenset[str]
    all: bool
    """Whether no others do on that node."""


class Kept(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Every node must remember that a key of the store has this value until that time."""

    key: str
    value: bytes
    until_ms: int
    """Milliseconds since 1970."""


class Alone(msgspec.Struct, frozen=True):
    """No other node is alive, as far as can be told."""


class Missed(msgspec.Struct, frozen=True):
    """Messages may have been lost."""

    is_broken: bool = False
    """Whether the store may have become an older copy of itself."""


class MissedIn(msgspec.Struct, frozen=True):
    """Messages of one shard may have been lost."""

    shard: int


Wake: TypeAlias = (
    Woken
    | Said
    | Listed
    | Told
    | Alive
    | Alone
    | Counted
    | Concerned
    | Followed
    | Kept
    | Missed
    | MissedIn
)
encode_kept: Final = msgspec.msgpack.Encoder().encode
_kept: Final = msgspec.msgpack.Decoder(Kept).decode


async def listen(url: str, node: str) -> AsyncGenerator[Wake, None]:
    """Listen to the news of all shards. Raises `StoreError` if the connection is lost: listen
    again. Silence does the same where another engine may have taken over."""
    async with aclosing(_listen(url, node.encode(), by_shard=False)) as wakes:
        async for wake in wakes:
            yield wake


def listen_to_all(url: str, node: bytes) -> AsyncGenerator[Wake, None]:
    """The same for a cluster, without what has a channel for each shard."""
    return _listen(url, node, by_shard=True)


async def _listen(url: str, own: bytes, *, by_shard: bool) -> AsyncGenerator[Wake, None]:
    wire = await open_wire(await listening_place(url))
    own_beats = 0
    always = _OF_ALL if by_shard else _ALWAYS
    channels = len(always) if by_shard else SHARDS + len(always)
    silence, silences = _Silence(wire.nudge), 0
    most_silences = MOST_SILENCES if may_move(url) else sys.maxsize
    try:
        wire.subscribe(packed("SUBSCRIBE", *always))
        if not by_shard:
            wire.subscribe(_LISTEN)
        listens = True
        while True:
            messages = await _heard(wire)
            if not messages and silence.is_long:
                silences += 1
                if silences == most_silences:
                    raise StoreError("not even own heartbeats are heard")
                yield Missed()
                silence.begin()
            elif messages:
                silence.begin()
                silences = 0
            for kind, channel, data in messages:
                if kind == b"subscribe":
                    if data == channels:
                        yield Missed()
                    continue
                if kind != b"message":
                    continue
                if channel != _NODES:
                    wake = _heard_on(channel, data, own)
                    if wake is not None:
                        yield wake
                elif data != own:
                    own_beats = 0
                    yield Alive(data.decode())
                    if not listens:
                        wire.subscribe(_LISTEN)
                        listens = True
                else:
                    own_beats += 1
                    if own_beats == ALONE_BEATS:
                        if not by_shard:
                            wire.subscribe(_REST)
                            listens = False
                        yield Alone()
    finally:
        silence.end()
        await wire.close()


class _Silence:
    """Wakes a listener that has heard nothing for a while. One timer serves all messages, instead
    of one timer each."""

    def __init__(self, nudge: Callable[[], None]) -> None:
        self._nudge = nudge
        self._loop = asyncio.get_running_loop()
        self.begin()
        self._timer = self._loop.call_later(DOUBT_SECONDS, self._look)

    def begin(self) -> None:
        """A message came, or the silence was noticed."""
        self._since = monotonic()

    def end(self) -> None:
        self._timer.cancel()

    @property
    def is_long(self) -> bool:
        return monotonic() - self._since >= DOUBT_SECONDS

    def _look(self) -> None:
        if self.is_long:
            self._nudge()
        left = max(self._since + DOUBT_SECONDS - monotonic(), LOOK_SECONDS)
        self._timer = self._loop.call_later(left, self._look)


async def _heard(wire: Wire) -> list[Any]:
    """Return messages; an empty list after a silence, or if none was published."""
    messages = await wire.hear()
    for message in messages:
        if isinstance(message, StoreError):
            raise message
    # The answer to a ping is shorter than a published message.
    return [message for message in messages if len(message) == 3]


def _heard_on(channel: bytes, data: bytes, own: bytes) -> Wake | None:
    if channel == _CHAT:
        return said_of(data)
    if channel == _MEMORY:
        return _kept(data)
    if channel == _PEOPLE:
        return _counted(data)
    if channel == _ME:
        return _about_people(data)
    return _listed(data) if channel == _LOBBY else wake_of(data, own)


def _listed(data: bytes) -> Listed:
    room, _, summary = data.partition(b" ")
    return Listed(room.decode(), summary)


def _counted(data: bytes) -> Counted:
    node, people = data.split()
    return Counted(node.decode(), int(people))


def _about_people(data: bytes) -> Wake | None:
    kind, rest = data[:1], data[1:]
    if kind == PLACE:
        person, room, seq, place = rest.split(b" ", 3)
        return Concerned(person.decode(), room.decode(), int(seq), place)
    if kind in (MORE, ALL):
        node, *people = rest.decode().split(" ")
        return Followed(node, frozenset(people), kind == ALL)
    return None


def said_of(data: bytes) -> Said:
    """Read a line of chat."""
    room, name, text = msgpack.unpackb(data, raw=True)
    return Said(room.decode(), line_of(name, text))


def wake_of(data: bytes, own: bytes) -> Wake | None:
    """Read a message about a room; None if it is this node's own."""
    sender, room, rest = data.split(b" ", 2)
    if sender == own:
        return None
    kind, content = rest[:1], rest[1:]
    if kind == ENTRY:
        return Woken(room.decode(), content)
    if kind == GUESTS:
        return Told(room.decode(), sender.decode(), content)
    # Another version of the server may publish more kinds.
    return None
