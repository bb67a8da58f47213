"""People who were given a seat and do not come: any node frees the seat again.

Quickplay notes a seat in the store before it gives the seat, with the time until which the person
may come. Every node polls for expired notes. A note is only a hint: the room itself knows whether
the person still sits there, and is neither ready nor connected.
"""

import asyncio
import logging
from time import monotonic
from typing import Final

from towerhall_protocol import commands
from towerhall_server.eventlog.lobby import Expected, LobbyStore
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import Directory, PoisonedRoomError
from towerhall_server.lobby.caller import ask
from towerhall_server.room.seats import Person
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

COMING_MS: Final = 30_000
"""Milliseconds from being seated to being connected; after that the seat is freed."""
LEASE_MS: Final = 10_000
"""Milliseconds of a lease on an expired note. A node that does not settle it in time counts as
dead."""
MOST_AT_ONCE: Final = 32
SWEEP_SECONDS: Final = 1.0
PRESENT_SECONDS: Final = 0.4
LOOK_SECONDS: Final = 0.05


class ExpectedPeople:
    """Frees seats of missing people, on one node of several."""

    def __init__(self, directory: Directory, store: LobbyStore) -> None:
        self._directory = directory
        self._store = store
        self._calm_at = monotonic()

    async def expect(self, room: str, person: Person) -> None:
        """Note the seat. Call this before the seat is given, so that no death of a node leaves it
        taken."""
        await self._store.expect(Expected(room, person.id), COMING_MS)

    async def run(self) -> None:
        """Free seats of missing people, forever.

        An outage of this node or of the store may have stopped people on their way as well. After
        it they get their full time again.
        """
        while True:
            try:
                if monotonic() - self._calm_at >= COMING_MS / 1000:
                    await self.sweep()
            except StoreError as error:
                logger.warning("expired seats cannot be freed: %s", error)
                self._calm_at = monotonic()
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> None:
        """Look once for expired notes."""
        late = await self._store.late(LEASE_MS, MOST_AT_ONCE)
        looks = [self._look(expected, till) for expected, till in late]
        for done in await asyncio.gather(*looks, return_exceptions=True):
            # After a failure the person is looked for again when the lease ends.
            if isinstance(done, BaseException) and not isinstance(done, PoisonedRoomError):
                raise done

    async def _look(self, expected: Expected, till: int) -> None:
        actor = await self._directory.open(expected.room)
        if actor is not None:
            await self._free(actor, expected.identity)
        await self._store.settle_expected(expected, till)

    async def _free(self, actor: RoomActor, identity: str) -> None:
        room = actor.follower.room
        table, seat = room.table, room.seat_of(identity)
        holder = None if seat is None else table.seats[seat]
        if table.status != "waiting" or holder is None or holder.ready:
            return
        if not await is_present(actor, seat):
            await ask(actor, Person(identity, holder.name), commands.stand())


async def is_present(actor: RoomActor, seat: int | None = None) -> bool:
    """Whether this person, or the owner of that seat, is connected to any node."""
    audience = actor.follower.audience
    audience.presence.ask_around()
    until = monotonic() + PRESENT_SECONDS
    while True:
        if audience.presence.online if seat is None else seat in audience.presence.online:
            return True
        if monotonic() > until:
            return False
        await asyncio.sleep(LOOK_SECONDS)
