"""A way between a node and its store, on which answers are late or lost, and rooms to try it in."""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

from tests.live.live_rooms import (
    FakeViewer,
    LiveNode,
    WatchedLog,
    commands_in,
    commits_of,
)
from tests.store.processes import eventually
from towerhall_protocol.messages import (
    ServerRejected,
)
from towerhall_server.eventlog.answers import Answer, Append
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.items import Item
from towerhall_server.store.batch import Later
from towerhall_server.store.errors import StoreError

Answered: TypeAlias = Callable[[Answer | StoreError], Later | None]
Fate: TypeAlias = Literal["lost request", "lost answer", "late answer"]
A_MOMENT = 0.05
"""Enough for whatever would be done at once."""


class Way:
    """Between a node and its store: notes every append, and does to the next ones as it is told."""

    def __init__(self, log: WatchedLog) -> None:
        self._ask = log.appender.ask
        self.asked: list[Append] = []
        self.fates: deque[Fate] = deque()
        self.late: list[Callable[[], Later | None]] = []
        """Answers that the store has given, and that nobody was told."""

    def ask(
        self, wanted: Append, answered: Answered, meanwhile: Callable[[], None] | None = None
    ) -> None:
        self.asked.append(wanted)
        match self.fates.popleft() if self.fates else None:
            case "lost request":
                answered_soon = partial(answered, StoreError("nobody has heard it"))
                asyncio.get_running_loop().call_soon(answered_soon)
            case "lost answer":
                lost = partial(answered, StoreError("nobody has heard the answer"))
                self._ask(wanted, lambda _: lost(), meanwhile)
            case "late answer":
                keep = self.late.append
                self._ask(wanted, lambda answer: keep(partial(answered, answer)), meanwhile)
            case _:
                self._ask(wanted, answered, meanwhile)

    async def is_late(self) -> None:
        """Wait until the store has answered, and for whatever else would be done meanwhile."""
        await eventually(lambda: bool(self.late))
        await asyncio.sleep(A_MOMENT)

    def let_go(self) -> None:
        """The answers come now, together."""
        late, self.late = self.late, []
        for later in [tell() for tell in late]:
            if later is not None:
                later()


async def seated(node: LiveNode, *, turn_seconds: int = 0) -> tuple[FakeViewer, FakeViewer]:
    """Ann, the host, and bob in a room on that node, both on their seats: seq 3."""
    ann = await FakeViewer("ann").enter(await node.found(turn_seconds=turn_seconds))
    bob = await FakeViewer("bob").enter(ann.room)
    await ann.do("sit")
    await bob.do("sit")
    return ann, bob


def forget(way: Way, turns: list[type[Item]]) -> None:
    """What led to the beginning of a test is not its matter."""
    way.asked.clear()
    turns.clear()


def is_idle(room: RoomActor) -> bool:
    """A call, for mypy takes a property to be what it was when it was looked at before."""
    return room.idle


def refusals(viewer: FakeViewer) -> list[str]:
    return [refusal.code for refusal in viewer.of(ServerRejected)]


async def senders(url: str, code: str) -> list[tuple[str, int]]:
    """Who has done what, as the log has it; each command once."""
    return commands_in(await commits_of(url, code))
