"""People who were given a seat and do not come: whichever node gave it, any node frees it again.

A seat that quickplay gives is noted in the store before it is given, with the time until which its
person may come. Every node looks there for those whose time is up. What is noted only says where to
look: whether they still sit there, and are neither ready nor connected, the room itself says.
"""

import asyncio
import logging
from time import monotonic
from typing import Final

from towerhall_protocol import commands
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.lobby.caller import ask
from towerhall_server.lobby.store import Expected, LobbyStore
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.directory import Directory, PoisonedRoomError
from towerhall_server.room.seats import Person

logger = logging.getLogger(__name__)

COMING_MS: Final = 30_000
"""So long somebody may take from being seated to being there."""
LEASE_MS: Final = 10_000
"""A node that does not say within this time what became of somebody has died."""
MOST_AT_ONCE: Final = 32
SWEEP_SECONDS: Final = 1.0
PRESENT_SECONDS: Final = 0.4
LOOK_SECONDS: Final = 0.05


class Coming:
    """Looks after seats whose people do not come, on one node of several."""

    def __init__(self, directory: Directory, store: LobbyStore) -> None:
        self._directory = directory
        self._store = store
        self._calm_at = monotonic()

    async def expect(self, room: str, person: Person) -> None:
        """To be called before a seat is given: then no death of a node leaves it taken."""
        await self._store.expect(Expected(room, person.id), COMING_MS)

    async def run(self) -> None:
        """Free seats of those who do not come, for ever.

        Whatever stopped this node, or the store, may have stopped people on their way as well: they
        have all of their time from the moment on at which it goes on.
        """
        while True:
            try:
                if monotonic() - self._calm_at >= COMING_MS / 1000:
                    await self.sweep()
            except StoreError as error:
                logger.warning("seats may be kept for nobody: %s", error)
                self._calm_at = monotonic()
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> None:
        """Look once for those whose time is up."""
        late = await self._store.late(LEASE_MS, MOST_AT_ONCE)
        looks = [self._look(expected, till) for expected, till in late]
        for done in await asyncio.gather(*looks, return_exceptions=True):
            # One who cannot be looked for is looked for again after the lease.
            if isinstance(done, BaseException) and not isinstance(done, PoisonedRoomError):
                raise done

    async def _look(self, expected: Expected, till: int) -> None:
        actor = await self._directory.open(expected.room)
        if actor is not None:
            await self._free(actor, expected.identity)
        await self._store.settle_expected(expected, till)

    async def _free(self, actor: RoomActor, identity: str) -> None:
        table = actor.follower.room.table
        seat = table.seat_of(identity)
        holder = None if seat is None else table.seats[seat]
        if table.status != "waiting" or holder is None or holder.ready:
            return
        if not await is_present(actor, seat):
            await ask(actor, Person(identity, holder.name), commands.stand())


async def is_present(actor: RoomActor, seat: int | None = None) -> bool:
    """Whether somebody who sits there, or who has that seat, is connected to any node."""
    audience = actor.follower.audience
    audience.ask_around()
    until = monotonic() + PRESENT_SECONDS
    while True:
        if audience.online if seat is None else seat in audience.online:
            return True
        if monotonic() > until:
            return False
        await asyncio.sleep(LOOK_SECONDS)
