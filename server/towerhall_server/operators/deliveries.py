"""Delivers events of rooms to operators: at least once, in order, even if the node dies.

The log is the queue. For each room the store keeps the seq of the last delivery and the time of the
next look. Deliveries are derived from the commits after that seq. A node that appends triggers a
look. If that trigger is lost with the node, the next regular look finds the commits. A node claims
a room for a limited time, so a dead node loses its claim. A room never waits for this module.
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

from towerhall_server.eventlog.due import Going
from towerhall_server.eventlog.operators import Delivered, OperatorStore
from towerhall_server.live.node import Node
from towerhall_server.operators.notices import delivery_id, identities, notice_of, state_of
from towerhall_server.operators.operator import Webhook
from towerhall_server.operators.pending import Logs, Notice
from towerhall_server.operators.sender import NotToldError, Sender
from towerhall_server.room.state import Room
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

AT_ONCE: Final = 16
"""Rooms of one operator that a node works on at the same time."""


class Pace(msgspec.Struct, frozen=True):
    """Times of deliveries, in seconds."""

    first: float = 2.0
    """Before the second attempt; doubled before each later one."""
    most: float = 3600.0
    give_up: float = 24 * 3600.0
    """An event that still cannot be delivered after this time is skipped."""
    lease: float = 30.0
    """Life of a claim: longer than an attempt."""
    sweep: float = 30.0
    """Between two regular looks at a room, without a trigger."""
    look: float = 1.0
    """Between two reads of the due rooms from the store, without a trigger."""

    def wait(self, fails: int) -> float:
        """Return the backoff after that many failed attempts, with jitter to spread rooms."""
        longest = min(self.first * 2 ** min(fails - 1, 30), self.most)
        return uniform(longest / 2, longest)  # noqa: S311 - not a secret


class Deliveries:
    """The deliveries of this node, for all operators with a webhook."""

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
        """This node has appended a commit. Returns at once for rooms without an operator."""
        operator = after.table.operator
        if operator in self._hooks and (before is None or notice_of(before, after) is not None):
            self.look(after)

    def look(self, room: Room) -> None:
        """Trigger a look at this room. The trigger may be lost; regular looks cover that."""
        operator = room.table.operator
        if operator in self._hooks:
            self._store.look(operator, room.table.code)
            self._bell.set()

    async def add(self, operator: str, room: str) -> None:
        """Start looking at this room, if its operator has a webhook."""
        if operator in self._hooks:
            await self._store.add(operator, room)

    async def run(self, node: Node) -> None:
        """Deliver in a loop, forever."""
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
                claim, rooms = secrets.token_hex(8), dict[str, Delivered]()
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
            # The claim expires by itself.
            logger.debug("deliveries of room %s stop: %s", telling.room, error)
        except Exception:
            # Another node may be able to read this log.
            logger.exception("deliveries of room %s failed", telling.room)

    async def _tell_all(self, logs: Logs, telling: "_Telling") -> None:
        """Deliver all events of a room, in order, until one fails."""
        pace, told = self._pace, telling.told
        found = await logs.after(telling.room, told)
        if found is None:
            await self._settle(telling, told, "over", 0)
            return
        for notice in found.notices:
            try:
                await self._send(telling.operator, notice)
            except NotToldError as error:
                if time() - notice.at.stamps.wall_ms / 1000 < pace.give_up:
                    again = msgspec.structs.replace(told, fails=told.fails + 1)
                    _complain(telling, again, error)
                    await self._settle(telling, again, "again", pace.wait(again.fails))
                    return
                logger.error("a delivery to operator %s of room %s at %d is dropped: %s",
                             telling.operator, telling.room, notice.at.seq, error)  # fmt: skip
            told = notice.told
            if not await self._settle(telling, told, "on", pace.lease):
                return
            logs.keep(telling.room, notice.at, notice.room)
        if found.room.table.status == "over":
            await self._settle(telling, found.told, "over", 0)
        elif await self._settle(telling, found.told, "rest", pace.sweep):
            logs.keep(telling.room, found.at, found.room)

    async def _send(self, operator: str, notice: Notice) -> None:
        room, at = notice.room, notice.at
        people = await self._store.people(operator, identities(room))
        name = delivery_id(room.table.uid, at.seq, notice.told.mark, notice.kind)
        now = (at.stamps.wall_ms, at.stamps.served_ms)
        document = {
            "id": name,
            "kind": notice.kind,
            "room": state_of(room, at.seq, now, people),
        }
        await self._sender.send(self._hooks[operator], name, msgspec.json.encode(document))

    async def _settle(
        self, telling: "_Telling", told: Delivered, going: Going, seconds: float
    ) -> bool:
        ms = round(1000 * seconds)
        return await self._store.settle(
            telling.operator, telling.room, telling.claim, told, going, ms
        )


class _Telling(msgspec.Struct, frozen=True):
    """A claim on a room, and the operator's position in its log."""

    operator: str
    room: str
    claim: str
    told: Delivered


def _complain(telling: _Telling, told: Delivered, error: NotToldError) -> None:
    """Log once per outage: readers of logs do not need every attempt."""
    if told.fails == 1:
        logger.warning("a delivery to operator %s of room %s failed: %s; it is retried",
                       telling.operator, telling.room, error)  # fmt: skip
