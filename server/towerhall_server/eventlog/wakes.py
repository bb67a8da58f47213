"""Wake-ups between nodes: each new entry is published, and whoever has the room open hears of it.

A message saves a read when it is the very next entry; truth stays with the log. What was published
while a subscription was cut is gone without a word, so every subscription begins with "anything may
have happened": the listener reads its rooms again. Lines of chat come the same way.

Every node hears of everything, its own appends too: a message must cost next to nothing. Messages
that came together are handed on without going back to the event loop in between.
"""

from collections.abc import AsyncGenerator
from typing import Any, Final, TypeAlias

import msgpack
import msgspec

from towerhall_server.eventlog.answers import Line, line_of
from towerhall_server.eventlog.commands import packed
from towerhall_server.eventlog.connection import open_wire
from towerhall_server.eventlog.endpoint import endpoint
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.keys import SHARDS, shard_keys

LINE: Final = 1
"""The kind by which a published line of chat begins. An entry begins with its room."""
SUBSCRIBE: Final = packed("SUBSCRIBE", *(shard_keys(shard).wake for shard in range(SHARDS)))


class Woken(msgspec.Struct, frozen=True, gc=False):
    """A room has a new entry."""

    room: str
    entry: Entry


class Said(msgspec.Struct, frozen=True, gc=False):
    """Somebody said something in a room."""

    room: str
    line: Line


class Missed(msgspec.Struct, frozen=True):
    """The subscription is new: entries may have been published that nobody heard of."""


Wake: TypeAlias = Woken | Said | Missed


async def listen(url: str) -> AsyncGenerator[Wake, None]:
    """What happens in all shards. When the connection is lost, `StoreError`: listen again."""
    wire = await open_wire(endpoint(url))
    try:
        wire.subscribe(SUBSCRIBE)
        unconfirmed = SHARDS
        while True:
            for message in await wire.hear():
                if isinstance(message, StoreError):
                    raise message
                kind = message[0]
                if kind == b"message":
                    wake = _wake(message[2])
                    if wake is not None:
                        yield wake
                elif kind == b"subscribe":
                    unconfirmed -= 1
                    if unconfirmed == 0:
                        yield Missed()
    finally:
        await wire.close()


def _wake(data: bytes) -> Wake | None:
    published: list[Any] = msgpack.unpackb(data, raw=True)
    if isinstance(published[0], bytes):
        room, seq, commit_id, chain, blob, wall_ms, served_ms = published
        return Woken(room.decode(), Entry(seq, commit_id, chain, blob, Stamps(wall_ms, served_ms)))
    if published[0] == LINE:
        _, room, name, text = published
        return Said(room.decode(), line_of(name, text))
    # Another version of the server may publish more.
    return None
