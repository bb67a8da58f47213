"""Finds people who may have to be told: those who are away from a room that rests.

Each node looks at its open rooms once a second. A decision that stands for some seconds is judged,
and again for a minute: a telephone that was locked just before keeps its connection for a while. A
move costs nothing, and a quick game is never judged. A node that dies is no loss: the next node
that opens the room judges it, and `telling` makes sure that nothing is told twice.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

import msgspec

from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import Directory
from towerhall_server.push.notes import absentees
from towerhall_server.room.table import Table
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
REST_SECONDS: Final = 5.0
"""Seconds for which a decision stands before anybody is told of it."""
DOUBT_SECONDS: Final = 60.0
"""Seconds of a decision in which a connection may turn out to be dead: longer than pings take. Who
leaves later has seen the decision."""
FOREVER: Final = float("inf")
ROOMS_AT_ONCE: Final = 500
"""Rooms that are looked at in one turn of the event loop."""

Concern = Callable[[str, str], Awaitable[None]]
"""Called with a person and a room."""


class _Resting(msgspec.Struct):
    """A room as it was found, and since when."""

    tag: str
    table: Table
    since: float
    due_at: float
    """When it is to be judged next."""
    concerned: set[str]
    """Aliases of those who may have to be told, and are not mentioned again."""


class Watch:
    """The open rooms of this node, and since when each rests."""

    def __init__(
        self, directory: Directory, concern: Concern, *, rest_seconds: float = REST_SECONDS
    ) -> None:
        self._directory = directory
        self._concern = concern
        self._rest_seconds = rest_seconds
        self._resting: dict[str, _Resting] = {}

    async def run(self) -> None:
        """Look at all rooms in a loop, forever."""
        while True:
            await asyncio.sleep(min(LOOK_SECONDS, self._rest_seconds))
            try:
                await self.look(monotonic())
            except StoreError as error:
                logger.debug("pushes wait for the store: %s", error)

    async def look(self, now: float) -> None:
        """Judge the rooms that have come to rest. A room that the store failed for is judged in
        the next look."""
        before, self._resting = self._resting, {}
        due: list[RoomActor] = []
        for number, actor in enumerate(tuple(self._directory)):
            if number % ROOMS_AT_ONCE == ROOMS_AT_ONCE - 1:
                await asyncio.sleep(0)  # let moves pass
            room, known = actor.follower.room, before.get(actor.code)
            if known is None or known.tag != room.tag or known.table is not room.table:
                known = _Resting(room.tag, room.table, now, now + self._rest_seconds, set())
            self._resting[actor.code] = known
            if now >= known.due_at:
                due.append(actor)
        for actor in due:
            known = self._resting[actor.code]
            await self._judge(actor, known.concerned)
            is_sure = now - known.since >= DOUBT_SECONDS
            known.due_at = FOREVER if is_sure else now + self._rest_seconds

    async def _judge(self, actor: RoomActor, concerned: set[str]) -> None:
        follower = actor.follower
        room, present = follower.room, follower.audience.presence.online
        for alias in absentees(room, present, follower.now_ms()):
            if alias not in concerned:
                await self._concern(room.identity_of(alias), actor.code)
                concerned.add(alias)
