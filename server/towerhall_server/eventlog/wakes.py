"""News between nodes: each new entry is published, and whoever has the room open hears of it.

A message saves a read when it is the very next entry; truth stays with the log. What was published
while a subscription was cut is gone without a word, so every subscription begins with "anything may
have happened": the listener reads its rooms again. Each node also says every second that it is
there. It hears itself, so silence means that nothing is heard any more: then, too, it reads.

Who is connected where comes the same way. A message begins with the names of its sender and its
room, so that one's own, and those of rooms that are not open here, cost next to nothing. A node
that has heard only itself for a while stops listening to rooms: it knows of all that happens in
them. The first word of another node makes it listen again. Lines of chat have a channel of their
own, on which every node hears all of them, its own too: so they have one order everywhere. So does
what the lobby shows of a room: it changes seldom, and whoever keeps the list is told each change.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from time import monotonic
from typing import Any, Final, TypeAlias

import msgpack
import msgspec

from towerhall_server.eventlog.answers import Line, line_of
from towerhall_server.eventlog.commands import packed
from towerhall_server.eventlog.connection import Wire, open_wire
from towerhall_server.eventlog.endpoint import endpoint
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.keys import CHAT, LOBBY, NODES, SHARDS, shard_keys

ENTRY, GUESTS = b"e", b"g"
"""The kind of a message is its first letter after the names."""
DOUBT_SECONDS: Final = 2.0
LOOK_SECONDS: Final = 0.05
"""How soon a silence that lasts is looked at again, at the earliest."""
ALONE_BEATS: Final = 3
"""So often a node hears itself and nobody else before it takes itself to be alone."""

_WAKES: Final = [shard_keys(shard).wake for shard in range(SHARDS)]
_LISTEN: Final = packed("SUBSCRIBE", *_WAKES)
_REST: Final = packed("UNSUBSCRIBE", *_WAKES)
_NODES: Final = NODES.encode()
_CHAT: Final = CHAT.encode()
_LOBBY: Final = LOBBY.encode()
_ALWAYS: Final = (NODES, CHAT, LOBBY)


class Woken(msgspec.Struct, frozen=True, gc=False):
    """A room has a new entry."""

    room: str
    packed: bytes

    @property
    def entry(self) -> Entry:
        seq, commit_id, chain, blob, wall_ms, served_ms = msgpack.unpackb(self.packed, raw=True)
        return Entry(seq, commit_id, chain, blob, Stamps(wall_ms, served_ms))


class Said(msgspec.Struct, frozen=True, gc=False):
    """Somebody said something in a room."""

    room: str
    line: Line


class Listed(msgspec.Struct, frozen=True, gc=False):
    """The lobby shows this of a room from now on; nothing if it does not show the room."""

    room: str
    summary: bytes


class Told(msgspec.Struct, frozen=True, gc=False):
    """Another node tells who looks at a room there."""

    room: str
    node: str
    guests: bytes


class Alive(msgspec.Struct, frozen=True, gc=False):
    """There is another node."""

    node: str


class Missed(msgspec.Struct, frozen=True):
    """Entries may have been published that nobody heard of."""


Wake: TypeAlias = Woken | Said | Listed | Told | Alive | Missed


async def listen(url: str, node: str) -> AsyncGenerator[Wake, None]:
    """What others do in all shards. When the connection is lost, `StoreError`: listen again."""
    wire = await open_wire(endpoint(url))
    own, own_beats = node.encode(), 0
    silence = _Silence(wire.nudge)
    try:
        wire.subscribe(packed("SUBSCRIBE", *_ALWAYS))
        wire.subscribe(_LISTEN)
        listens = True
        while True:
            messages = await _heard(wire)
            if not messages and silence.is_long:
                yield Missed()
                silence.begin()
            elif messages:
                silence.begin()
            for kind, channel, data in messages:
                if kind == b"subscribe":
                    if data == SHARDS + len(_ALWAYS):
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
                        wire.subscribe(_REST)
                        listens = False
    finally:
        silence.end()
        await wire.close()


class _Silence:
    """Sees that a listener looks up when nothing has come for a while. One timer serves for all
    that comes, instead of one for each message."""

    def __init__(self, nudge: Callable[[], None]) -> None:
        self._nudge = nudge
        self._loop = asyncio.get_running_loop()
        self.begin()
        self._timer = self._loop.call_later(DOUBT_SECONDS, self._look)

    def begin(self) -> None:
        """Something was heard, or the silence was noticed."""
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
    """Messages; none if nothing was heard for a while, or nothing that was published."""
    messages = await wire.hear()
    for message in messages:
        if isinstance(message, StoreError):
            raise message
    # The answer to a ping is shorter than what was published.
    return [message for message in messages if len(message) == 3]


def _heard_on(channel: bytes, data: bytes, own: bytes) -> Wake | None:
    if channel == _CHAT:
        return _said(data)
    return _listed(data) if channel == _LOBBY else _wake(data, own)


def _listed(data: bytes) -> Listed:
    room, _, summary = data.partition(b" ")
    return Listed(room.decode(), summary)


def _said(data: bytes) -> Said:
    room, name, text = msgpack.unpackb(data, raw=True)
    return Said(room.decode(), line_of(name, text))


def _wake(data: bytes, own: bytes) -> Wake | None:
    sender, room, rest = data.split(b" ", 2)
    if sender == own:
        return None
    kind, content = rest[:1], rest[1:]
    if kind == ENTRY:
        return Woken(room.decode(), content)
    if kind == GUESTS:
        return Told(room.decode(), sender.decode(), content)
    # Another version of the server may publish more.
    return None
