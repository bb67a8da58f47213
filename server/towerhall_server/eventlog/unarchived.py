"""Rooms whose records the archive has not taken yet, in one key of the store.

Any server may archive them; notes are idempotent. Every call may raise `StoreError`.
"""

from time import time

from towerhall_server.eventlog.keys import UNARCHIVED
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import packed


async def owe_archive(log: EventLog, room: str) -> None:
    """Note that the record of a room is not in the archive yet."""
    await log.call(Call(packed("ZADD", UNARCHIVED, "NX", round(1000 * time()), room)))


async def unarchived(log: EventLog, most: int) -> tuple[str, ...]:
    """Return rooms whose records are not in the archive, the oldest first."""
    found = await log.call(Call(packed("ZRANGE", UNARCHIVED, 0, most - 1)))
    return tuple(map(bytes.decode, found))


async def settle_archive(log: EventLog, room: str) -> None:
    """The record of a room is in the archive, or gone."""
    await log.call(Call(packed("ZREM", UNARCHIVED, room)))
