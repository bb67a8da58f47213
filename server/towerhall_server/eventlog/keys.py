"""Keys and channels in the store. All keys of a room share a slot, so one script can use them."""

from functools import lru_cache
from hashlib import blake2b

import msgspec

SHARDS = 256
NODES = "towerhall:nodes"
"""Channel of the nodes' heartbeats."""
PEOPLE = "towerhall:people"
"""Channel of the numbers of people who are connected to each node."""
UNARCHIVED = "towerhall:unarchived"
"""Rooms whose records have to go into the archive, by the time of the first failure."""
CHAT = "towerhall:chat"
"""Channel of all lines of chat, unless the store is a cluster."""
MEMORY = "towerhall:memory"
"""Channel of facts that every node remembers."""
ME = "towerhall:me"
"""Channel of what concerns single persons, and of who follows that on each node."""
LOBBY = "towerhall:lobby"
"""Channel of the lobby's entries of rooms, one message for each change."""


class ShardKeys(msgspec.Struct, frozen=True, gc=False):
    """Keys that the rooms of a shard share."""

    clock: str
    due: str
    lobby: str
    owed: str
    """Leaves that rooms owe the public log; those of one room in one member."""
    ends: str
    """Rooms whose game has ended, until the end is in the journal of regulars."""
    wake: str
    """Channel of all new entries, and of each node's viewers."""
    said: str
    """Channel of all lines of chat, on a cluster."""


class RoomKeys(msgspec.Struct, frozen=True, gc=False):
    """Keys of one room."""

    log: str
    cmd: str
    """Commands as servers before record format 2 kept them: only to be removed."""
    chat: str
    secret: str
    ended: str
    """Marks a removed log for some hours, so that no node restores it."""
    record: str
    """The record of a finished game. It outlives the log."""
    snapshots: str
    """Snapshots of the room by seq. They contain hidden information of players."""
    coming: str
    """The log of a room that comes from another store, until all of it is here."""
    shard: ShardKeys


def shard_of(room: str) -> int:
    """Return the shard of a room: a constant, because it locates the room's data."""
    return blake2b(room.encode(), digest_size=1).digest()[0] % SHARDS


@lru_cache(maxsize=SHARDS)
def shard_keys(shard: int) -> ShardKeys:
    tag = f"towerhall:{{s{shard}}}"
    names = ("clock", "due", "lobby", "owed", "ends", "wake", "said")
    return ShardKeys(*(f"{tag}:{name}" for name in names))


@lru_cache(maxsize=1 << 12)
def room_keys(room: str) -> RoomKeys:
    """The keys of a room. 1 KB each is kept for some thousand codes only: strangers ask for codes
    that lead nowhere, and moves keep what they need in `append`."""
    shard = shard_of(room)
    tag = f"towerhall:{{s{shard}}}"
    return RoomKeys(
        f"{tag}:log:{room}",
        f"{tag}:cmd:{room}",
        f"{tag}:chat:{room}",
        f"{tag}:secret:{room}",
        f"{tag}:ended:{room}",
        f"{tag}:record:{room}",
        f"{tag}:snap:{room}",
        f"{tag}:coming:{room}",
        shard_keys(shard),
    )
