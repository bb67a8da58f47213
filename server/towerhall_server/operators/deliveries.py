"""Tells operators of what happens in their rooms: at least once, in order, whoever lives to do it.

The log is the queue. For each room the store keeps up to which seq its operator has been told, and
when somebody is to look next; what there is to tell is derived from the commits after that seq.
Whoever appends says that it is worth looking. If that is lost with the node, the room is looked at
all the same a little later. A room that is being told of is claimed for a while: a node that dies
loses its claim. Nothing here is ever waited for by a room.
"""

import asyncio
import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from random import uniform
from time import time
from typing import Final

import msgspec

from towerhall_server.eventlog.errors import StoreError
from towerhall_server.operators.happenings import delivery_id, happened, identities, state_of
from towerhall_server.operators.keys import Webhook
from towerhall_server.operators.reading import Logs, News
from towerhall_server.operators.sender import NotToldError, Sender
from towerhall_server.operators.store import Going, OperatorStore, Told
from towerhall_server.room.node import Node
from towerhall_server.room.state import Room

logger = logging.getLogger(__name__)

AT_ONCE: Final = 16
"""Rooms of one operator that a node tells of at the same time."""


class Pace(msgspec.Struct, frozen=True):
    """How fast operators are told, in seconds."""

    first: float = 2.0
    """Before the second attempt; twice as long before each one after it."""
    most: float = 3600.0
    give_up: float = 24 * 3600.0
    """What happened so long ago, and still cannot be told, is passed over."""
    lease: float = 30.0
    """A claim holds so long: longer than an attempt."""
    sweep: float = 30.0
    """Every room is looked at so often, even if nobody asked for it."""
    look: float = 1.0
    """The store is asked so often which rooms are due, even if nobody has appended anything."""

    def wait(self, fails: int) -> float:
        """How long to wait after so many failed attempts. Chance spreads those of many rooms."""
        longest = min(self.first * 2 ** min(fails - 1, 30), self.most)
        return uniform(longest / 2, longest)  # noqa: S311 - nobody gains by guessing it


class Deliveries:
    """What this node does for all operators who want to be told."""

    def __init__(
        self,
        store: OperatorStore,
        hooks: Mapping[str, Webhook],
        sender: Sender,
        pace: Pace,
    ) -> None:
        self._store = store
        self._hooks = hooks
        self._sender = sender
        self._pace = pace
        self._bell = asyncio.Event()

    def heard(self, before: Room | None, after: Room) -> None:
        """This node has appended a commit. It costs rooms of nobody's nothing."""
        operator = after.table.operator
        if operator in self._hooks and (before is None or happened(before, after) is not None):
            self._store.look(operator, after.table.code)
            self._bell.set()

    async def add(self, operator: str, room: str) -> None:
        """From now on this room is looked at; for operators who want to be told."""
        if operator in self._hooks:
            await self._store.add(operator, room)

    async def run(self, node: Node) -> None:
        """For ever."""
        logs = Logs(node)
        async with asyncio.TaskGroup() as group:
            for operator in self._hooks:
                group.create_task(self._run(logs, operator), name=f"webhooks of {operator}")

    async def _run(self, logs: Logs, operator: str) -> None:
        busy: set[asyncio.Task[None]] = set()

        def done(task: asyncio.Task[None]) -> None:
            busy.discard(task)
            self._bell.set()

        try:
            while True:
                self._bell.clear()
                claim, rooms = secrets.token_hex(8), dict[str, Told]()
                if len(busy) < AT_ONCE:
                    lease_ms = round(1000 * self._pace.lease)
                    with suppress(StoreError):
                        rooms = await self._store.claim(
                            operator, claim, lease_ms, AT_ONCE - len(busy)
                        )
                for room, told in rooms.items():
                    telling = _Telling(operator, room, claim, told)
                    task = asyncio.create_task(self._tell(logs, telling))
                    busy.add(task)
                    task.add_done_callback(done)
                if not rooms:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._pace.look):
                            await self._bell.wait()
        finally:
            for task in busy:
                task.cancel()

    async def _tell(self, logs: Logs, telling: "_Telling") -> None:
        try:
            await self._tell_all(logs, telling)
        except StoreError as error:
            # The claim runs out by itself.
            logger.debug("webhooks of room %s stop: %s", telling.room, error)
        except Exception:
            # What this node cannot read, another one perhaps can.
            logger.exception("webhooks of room %s fail", telling.room)

    async def _tell_all(self, logs: Logs, telling: "_Telling") -> None:
        """Everything that there is to tell of a room, in order, as far as it is taken."""
        pace, told = self._pace, telling.told
        found = await logs.after(telling.room, told)
        if found is None:
            await self._settle(telling, told, "over", 0)
            return
        for news in found.news:
            try:
                await self._send(telling.operator, news)
            except NotToldError as error:
                if time() - news.at.stamps.wall_ms / 1000 < pace.give_up:
                    again = msgspec.structs.replace(told, fails=told.fails + 1)
                    _complain(telling, again, error)
                    await self._settle(telling, again, "again", pace.wait(again.fails))
                    return
                logger.error("operator %s is never told of room %s at %d: %s",
                             telling.operator, telling.room, news.at.seq, error)  # fmt: skip
            told = news.told
            if not await self._settle(telling, told, "on", pace.lease):
                return
            logs.keep(telling.room, news.at, news.room)
        if found.room.table.status == "over":
            await self._settle(telling, found.told, "over", 0)
        elif await self._settle(telling, found.told, "rest", pace.sweep):
            logs.keep(telling.room, found.at, found.room)

    async def _send(self, operator: str, news: News) -> None:
        room, at = news.room, news.at
        people = await self._store.people(operator, identities(room.table))
        name = delivery_id(room.table.uid, at.seq, news.told.mark, news.kind)
        now = (at.stamps.wall_ms, at.stamps.served_ms)
        document = {
            "id": name,
            "kind": news.kind,
            "room": state_of(room, at.seq, now, people),
        }
        await self._sender.send(self._hooks[operator], name, msgspec.json.encode(document))

    async def _settle(self, telling: "_Telling", told: Told, going: Going, seconds: float) -> bool:
        ms = round(1000 * seconds)
        return await self._store.settle(
            telling.operator, telling.room, telling.claim, told, going, ms
        )


class _Telling(msgspec.Struct, frozen=True):
    """A claim on a room, and how far its operator has been told."""

    operator: str
    room: str
    claim: str
    told: Told


def _complain(telling: _Telling, told: Told, error: NotToldError) -> None:
    """Once for each outage: whoever reads logs does not need every attempt."""
    if told.fails == 1:
        logger.warning("operator %s does not take news of room %s: %s; this is tried again",
                       telling.operator, telling.room, error)  # fmt: skip
