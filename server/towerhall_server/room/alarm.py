"""When a room acts by itself on this node: at once for the node that appended last.

The others leave it some time and come in one after the other: whoever is late only finds that it
has been done.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from towerhall_server.room.follower import Follower

FAR_MS: Final = 3_600_000
"""What is due later than this is left to the store's index of deadlines."""
GRACE_MS: Final = 400
"""How long nodes that did not append last leave it to the one that did, times their rank."""
RANKS: Final = 4


class Alarm:
    """Rings when what is ahead of a room may be due."""

    __slots__ = ("_appended_last", "_follower", "_ring", "_timer")

    def __init__(
        self, follower: Follower, ring: Callable[[], None], *, appended_last: bool
    ) -> None:
        self._follower = follower
        self._ring = ring
        self._appended_last = appended_last
        self._timer: asyncio.TimerHandle | None = None

    def appended_here(self) -> None:
        self._appended_last = True
        self.set()

    def others_appended(self) -> None:
        self._appended_last = False
        self.set()

    def set(self) -> None:
        """For what is due next."""
        follower = self._follower
        if self._appended_last and follower.ahead.ms > FAR_MS:
            self.stop()
            return
        ms = follower.deadline_ms - follower.now_ms()
        if ms > FAR_MS:
            self.stop()
            return
        if not self._appended_last:
            ms += GRACE_MS * (1 + follower.rank(RANKS))
        self.wait(ms)

    def wait(self, ms: int) -> None:
        self.stop()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(max(ms, 0) / 1000, self._ring)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
