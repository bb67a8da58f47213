"""Nodes on a real store that play operators' rooms and tell of them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from tests.operators.receiver import SECRET
from tests.room.pure_rooms import id_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import listen
from towerhall_server.eventlog.operators import LobbyPerson, OperatorStore
from towerhall_server.game import Rejected, discover
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import Directory
from towerhall_server.live.items import Order
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.operators.deliveries import Deliveries, Pace
from towerhall_server.operators.operator import Webhook
from towerhall_server.operators.sender import Sender
from towerhall_server.room import steps
from towerhall_server.room.closing import close_step
from towerhall_server.room.commits import Cause
from towerhall_server.room.decision import manage
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person as Seated
from towerhall_server.room.seats import guest_of
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Plan, Step

ACME: Final = "acme"
PEOPLE: Final = {id_of("one"): LobbyPerson("one", "Ada"), id_of("two"): LobbyPerson("two", "Ben")}
QUICK: Final = Pace(first=0.05, most=0.2, lease=30.0, sweep=0.3, look=0.05)
LATE: Final = Pace(first=0.05, most=0.2, lease=30.0, sweep=600.0)
ATTEMPT_SECONDS: Final = 10.0
"""A busy machine must not look like a hook that hangs: then things are told twice, as they should
be."""
"""Nobody looks unless asked."""
PATIENCE_SECONDS: Final = 20.0


class OperatingNode(msgspec.Struct, frozen=True):
    log: EventLog
    store: OperatorStore
    directory: Directory
    deliveries: Deliveries

    async def new_room(self, *, operator: str = ACME, turn_seconds: int = 0) -> RoomActor:
        """A room for two people of an operator, who is to hear of it."""
        rules = self.directory.node.games["five_towers"]
        plan = Plan(
            rules=rules,
            options=rules.presets["standard"],
            seats=2,
            settings=Settings(turn_seconds=turn_seconds),
            host="",
            reserved=tuple(PEOPLE),
            quick=True,
            operator=operator,
        )
        await self.store.remember(operator, PEOPLE)
        actor = await self.directory.create(plan)
        await self.deliveries.add(operator, actor.code)
        return actor

    async def open(self, code: str) -> RoomActor:
        actor = await self.directory.open(code)
        assert actor is not None
        return actor


@asynccontextmanager
async def operating_node(
    url: str,
    name: str,
    hook_url: str,
    pace: Pace = QUICK,
    *,
    tells: bool = True,
    attempt_seconds: float = ATTEMPT_SECONDS,
) -> AsyncIterator[OperatingNode]:
    """One that does not tell is one that dies each time right after it has appended."""
    async with EventLog(url, name) as log:
        store = OperatorStore(log)
        sender = Sender(attempt_seconds=attempt_seconds)
        deliveries = Deliveries(store, {ACME: Webhook(hook_url, (SECRET,))}, sender, pace)
        node = Node(name, log, ServiceClock(), discover())
        if tells:
            node = msgspec.structs.replace(
                node, heard=lambda before, after, _: deliveries.heard(before, after)
            )
        directory = Directory(node)
        await directory.beat_once()
        tasks = [asyncio.create_task(directory.listen(lambda: listen(url, name)))]
        if tells:
            tasks.append(asyncio.create_task(deliveries.run(node)))
        try:
            yield OperatingNode(log, store, directory, deliveries)
        finally:
            await directory.close("restart")
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def do(actor: RoomActor, decide: Callable[[Room], Step | Rejected | None]) -> None:
    """Let a room do one thing, by whoever it is."""
    done = False

    def once(room: Room) -> Step | None:
        nonlocal done
        step = None if done else decide(room)
        assert not isinstance(step, Rejected), step
        done = True
        return step

    order = Order(once, asyncio.get_running_loop().create_future())
    actor.put(order)
    await asyncio.wait_for(order.done, PATIENCE_SECONDS)


async def begin(actor: RoomActor) -> None:
    """Both sit down and are ready: the game begins by itself."""
    for n, (identity, person) in enumerate(PEOPLE.items()):
        seated = guest_of(actor.follower.room, Seated(identity, person.name))
        for m, body in enumerate(({"command": "sit"}, {"command": "ready"}), start=1):
            cause = Cause(n, seated.id, f"origin-{n}", m)
            await do(
                actor,
                lambda room, s=seated, c=cause, b=body: manage(room, s, c, b),  # type: ignore[misc]
            )
    assert actor.follower.room.playing


async def move(actor: RoomActor) -> bool:
    """One move of whoever is to act; whether the game goes on."""

    def step(room: Room) -> Step | Rejected | None:
        return steps.stand_in_step(room, room.to_act()[0]) if room.playing else None

    await do(actor, step)
    return actor.follower.room.playing


async def close(actor: RoomActor, reason: str = "closed_by_operator") -> None:
    await do(actor, lambda room: close_step(room, reason, "service"))
