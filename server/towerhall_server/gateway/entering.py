"""Opens a room for a person who may look at it. For other people a private room looks like none.

Equal answers are not enough. Loading a room takes longer than finding none, a loaded room needs no
store call, and a store failure shows only where the store is asked. Every refusal makes the same
store call and takes the same time. No message is made here.
"""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final

from towerhall_server.eventlog.log import EventLog
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import Directory
from towerhall_server.room.codes import is_code
from towerhall_server.room.state import Room

REFUSED_SECONDS: Final = 0.1
"""Seconds from a request to its refusal: longer than loading a room takes."""
NOWHERE: Final = "nowhere"
"""A room that does not exist: real codes have six capital letters."""


async def room_for(
    directory: Directory, code: str, may: Callable[[Room], bool], asked: float
) -> RoomActor | None:
    """Return the room of that code if `may` accepts it, else None. `asked` is the time of the
    request. Raises the errors of `Directory.open`."""
    actor = await directory.open(code) if is_code(code) else None
    if actor is not None and may(actor.follower.room):
        return actor
    await refused(directory.node.log, asked)
    return None


async def refused(log: EventLog, asked: float) -> None:
    """Delay a refusal until it may be sent. Raises `StoreError` if the store does not answer."""
    await log.read(NOWHERE)
    await asyncio.sleep(asked + REFUSED_SECONDS - monotonic())
