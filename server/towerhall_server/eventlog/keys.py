"""Where things are in the store. All keys of a room share a slot, so one script can touch them."""

from functools import lru_cache
from hashlib import blake2b

import msgspec

SHARDS = 256
NODES = "towerhall:nodes"
"""The channel on which every node says that it is there."""
CHAT = "towerhall:chat"
"""The channel on which every line of chat is published."""
LOBBY = "towerhall:lobby"
"""The channel on which is published what the lobby shows of a room, whenever that changes."""


class ShardKeys(msgspec.Struct, frozen=True):
    """What the rooms of a shard have in common."""

    clock: str
    due: str
    lobby: str
    wake: str
    """The channel on which every new entry is published, and who looks at rooms."""
    claims: str
    """Counts the connections to rooms, so that every node knows which one is the newest."""


class RoomKeys(msgspec.Struct, frozen=True):
    """What belongs to one room."""

    log: str
    cmd: str
    chat: str
    secret: str
    record: str
    """What is left of a finished game; the only key that outlives the log."""
    shard: ShardKeys


def shard_of(room: str) -> int:
    """The same on every node and for ever: it says where a room's data is."""
    return blake2b(room.encode(), digest_size=1).digest()[0] % SHARDS


@lru_cache(maxsize=SHARDS)
def shard_keys(shard: int) -> ShardKeys:
    tag = f"towerhall:{{s{shard}}}"
    return ShardKeys(f"{tag}:clock", f"{tag}:due", f"{tag}:lobby", f"{tag}:wake", f"{tag}:claims")


@lru_cache(maxsize=1 << 14)
def room_keys(room: str) -> RoomKeys:
    shard = shard_of(room)
    tag = f"towerhall:{{s{shard}}}"
    return RoomKeys(
        f"{tag}:log:{room}",
        f"{tag}:cmd:{room}",
        f"{tag}:chat:{room}",
        f"{tag}:secret:{room}",
        f"{tag}:record:{room}",
        shard_keys(shard),
    )
