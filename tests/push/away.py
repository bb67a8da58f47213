"""A node without a network that pushes: its people come and go by hand, and so does time."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import msgspec

from tests.live.live_rooms import FakeViewer, LiveNode, live_node
from tests.push.double import Device
from tests.room.pure_rooms import id_of
from towerhall_server.access.admission import Access
from towerhall_server.access.revocations import RevocationStore
from towerhall_server.access.tokens import DAY_SECONDS, Token, Tokens
from towerhall_server.eventlog.operators import OperatorStore
from towerhall_server.eventlog.pushes import PushStore
from towerhall_server.live.actor import RoomActor
from towerhall_server.push.service import Pushes, open_pushes
from towerhall_server.push.telling import PushPace
from towerhall_server.room.seats import Person

LOCAL = ("127.0.0.0/8",)
CONTACT = "mailto:towers@example.org"
REST_SECONDS = 5.0
PACE = PushPace(rest=REST_SECONDS, look=0.05, ask=0.2)
TOKENS = Tokens((b"a key of thirty-two bytes or more",), 30)


def token_of(name: str, **more: Any) -> Token:
    return msgspec.structs.replace(TOKENS.new(Person(id_of(name), name)), **more)


class AwayNode:
    """A node, and the pushes that it would send by itself."""

    def __init__(
        self, live: LiveNode, pushes: Pushes, access: Access, blocks: set[tuple[str, str]]
    ) -> None:
        self.live, self.pushes, self.access = live, pushes, access
        self.blocks = blocks
        """Pairs of ids: the first person has blocked the second one."""
        self._now = count(time.monotonic(), 2 * REST_SECONDS)

    async def subscribe(self, name: str, *devices: Device, **more: Any) -> None:
        for device in devices:
            device.service.key = self.pushes.vapid.public
            await self.pushes.subscribe(
                token_of(name, **more), language="de", **device.subscription
            )

    async def rest(self) -> None:
        """Time passes without a move, and all jobs are done."""
        for _ in range(2):
            await self.pushes.watch.look(next(self._now))
        await self.work()

    async def work(self) -> None:
        """Do all jobs that are due."""
        while await self.pushes.telling.do_due():
            pass

    async def room_of(self, *names: str, **settings: Any) -> tuple[RoomActor, list[FakeViewer]]:
        """A room of these people, all there."""
        actor = await self.live.found(seats=len(names), **settings)
        return actor, [await self.live.enter(actor.code, name) for name in names]

    async def visit(self, name: str, actor: RoomActor) -> None:
        """A person comes to a room: the gateway notes that."""
        self.pushes.store.visited(id_of(name), actor.code)
        async with asyncio.timeout(10):
            seen = False
            while not seen:
                told = await self.pushes.store.told(id_of(name), actor.code)
                seen = told is not None and told.seen

    async def devices_of(self, name: str) -> list[str]:
        return [each.endpoint for each in await self.pushes.store.of(id_of(name))]


@asynccontextmanager
async def away_node(url: str, name: str = "one") -> AsyncIterator[AwayNode]:
    async with live_node(url, name) as live:
        operators = OperatorStore(live.log)
        revocations = RevocationStore(live.log, 30 * DAY_SECONDS)
        access = Access(TOKENS, operators, revocations)
        store = PushStore(live.log)
        blocks: set[tuple[str, str]] = set()

        async def shuns(person: str, host: str) -> bool:
            return (person, host) in blocks

        pushes = await open_pushes(
            store, live.directory, access, contact=CONTACT, networks=LOCAL, pace=PACE, shuns=shuns
        )
        yield AwayNode(live, pushes, access, blocks)
