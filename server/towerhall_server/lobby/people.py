"""How many people are connected to the service: each node counts its own and tells the others.

A person who is connected to two nodes counts twice. Nothing is stored: a node that falls silent is
left out soon.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Final

from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import Counted, Wake

TELL_SECONDS: Final = 2.0
SILENT_SECONDS: Final = 10.0
"""Seconds of silence after which the people of a node count as gone."""


class People:
    """The people who are connected to all nodes, as one of them knows."""

    def __init__(
        self, log: EventLog, count: Callable[[], int], changed: Callable[[int], None]
    ) -> None:
        self._log, self._count, self._changed = log, count, changed
        self._elsewhere: dict[str, tuple[int, float]] = {}
        """By node: how many, and when that was told."""

    @property
    def online(self) -> int:
        late = monotonic() - SILENT_SECONDS
        self._elsewhere = {node: told for node, told in self._elsewhere.items() if told[1] > late}
        return self._count() + sum(people for people, _ in self._elsewhere.values())

    async def tapped(self, wakes: AsyncIterator[Wake]) -> AsyncIterator[Wake]:
        """Pass news through, and take the counts of other nodes."""
        async for wake in wakes:
            self.hear(wake)
            yield wake

    def hear(self, wake: Wake) -> None:
        if isinstance(wake, Counted) and wake.node != self._log.node:
            self._elsewhere[wake.node] = wake.people, monotonic()

    async def run(self) -> None:
        """Tell the other nodes, and the viewers of the lobby here, until cancelled."""
        while True:
            self._log.tell_people(self._count())
            self._changed(self.online)
            await asyncio.sleep(TELL_SECONDS)
