"""Wake-ups between nodes: each new entry is published, and whoever has the room open hears of it.

A message saves a read when it is the very next entry; truth stays with the log. What was published
while a subscription was cut is gone without a word, so every (re-)subscription counts as "anything
may have happened": the listener is told, and reads its rooms again.
"""

from collections.abc import AsyncGenerator
from typing import TypeAlias

import msgpack
import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from towerhall_server.eventlog.batch import StoreError
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.eventlog.keys import SHARDS, shard_keys


class Woken(msgspec.Struct, frozen=True):
    """A room has a new entry."""

    room: str
    entry: Entry


class Missed(msgspec.Struct, frozen=True):
    """The subscription is new: entries may have been published that nobody heard of."""


Wake: TypeAlias = Woken | Missed


async def listen(redis: Redis) -> AsyncGenerator[Wake, None]:
    """What happens in all shards. When the connection is lost, `StoreError`: listen again."""
    channels = {shard_keys(shard).wake for shard in range(SHARDS)}
    listener = redis.pubsub()
    try:
        await listener.subscribe(*channels)
        unconfirmed = set(channels)
        while True:
            message = await listener.get_message(timeout=None)
            if message is None:
                continue
            if message["type"] == "subscribe":
                unconfirmed.discard(message["channel"].decode())
                if not unconfirmed:
                    # A client that retries subscribes again after a cut: then all confirm anew.
                    unconfirmed = set(channels)
                    yield Missed()
            elif message["type"] == "message":
                yield _woken(message["data"])
    except (RedisError, OSError) as error:
        raise StoreError(str(error) or type(error).__name__) from error
    finally:
        await listener.aclose()  # type: ignore[no-untyped-call]


def _woken(data: bytes) -> Woken:
    room, seq, commit_id, chain, blob, wall_ms, served_ms = msgpack.unpackb(data, raw=True)
    return Woken(room.decode(), Entry(seq, commit_id, chain, blob, Stamps(wall_ms, served_ms)))
