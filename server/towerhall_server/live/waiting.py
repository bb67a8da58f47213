"""How the actor of a room waits for a search or for the store while the room goes on.

While a search runs, viewers join and get frames, orders are obeyed, and commands of other clients
are done. Commands of the same client wait, because a later one would make the earlier one stale.
Deadlines wait, too: a player's time does not run out while the server computes. Only one command at
a time waits like this; during a second slow one no further commands pass.

While the outcome of a commit is unknown, nothing is decided, but viewers join.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from towerhall_server.eventlog.answers import Answer as LogAnswer
from towerhall_server.game import Seat
from towerhall_server.live import replies
from towerhall_server.live.follower import Follower
from towerhall_server.live.inbox import Inbox
from towerhall_server.live.items import Command, Doubt, Item, Join, News, Order, Resync
from towerhall_server.live.searches import Search, Urgency
from towerhall_server.live.writer import Attempt
from towerhall_server.room.search import JobAnswer
from towerhall_server.room.state import Decided, Room


class Waiting:
    """Waits in place of one room's actor."""

    __slots__ = ("_follower", "_handle", "_inbox", "_is_nested")

    def __init__(
        self, follower: Follower, inbox: Inbox, handle: Callable[[Item], Awaitable[None]]
    ) -> None:
        self._follower = follower
        self._inbox = inbox
        self._handle = handle
        self._is_nested = False

    async def let_in(self, attempt: Attempt, known: "asyncio.Future[LogAnswer]") -> None:
        """Let viewers join while the outcome of an attempt is unknown, if this replica knows their
        cursor. They see the room before the attempt. A full store may take hours."""
        replica = self._follower.replica

        def fits(item: Item) -> bool:
            if isinstance(item, Join):
                return item.cursor is None or replica.knows(item.cursor)
            return isinstance(item, Resync)

        while (item := await self._inbox.take_aside(fits, known)) is not None:
            attempt.draft = None  # it was made for those who were here before
            await self._handle(item)

    async def decide(self, item: Command, room: Room, seat: Seat) -> Decided | None:
        """The outcome of a slow command; `None` if the room has changed meanwhile."""
        told = partial(replies.searching, item)
        searches, body = self._follower.searches, item.asked.body
        search = searches.decide(room, seat, body, Urgency.PERSON, told)
        answer = await self._answer(search, room, item.viewer.origin)
        return None if answer is None else Decided(room.game, answer.events)

    async def choose(self, room: Room, seat: Seat) -> JobAnswer | None:
        """The move of a slow bot; `None` if the room has changed meanwhile."""
        return await self._answer(self._follower.searches.choose(room, seat), room)

    async def _answer(self, search: Search, room: Room, origin: str = "") -> JobAnswer | None:
        """Raises what the search raised."""
        was_nested, self._is_nested = self._is_nested, True

        def fits(other: Item) -> bool:
            if isinstance(other, Command):
                return not was_nested and other.viewer.origin != origin
            return isinstance(other, Join | Resync | News | Doubt | Order)

        try:
            while (other := await self._inbox.take_aside(fits, search.ended)) is not None:
                await self._handle(other)
                if self._follower.room is not room:
                    return None
        finally:
            self._is_nested = was_nested
        return search.ended.result()
