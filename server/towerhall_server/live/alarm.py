"""The timer for what a room does by itself. The node that appended last acts at the deadline.

The other nodes wait longer, each by its rank. Usually they find that the deadline was met.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from towerhall_server.live.follower import Follower

FAR_MS: Final = 3_600_000
"""Milliseconds until a deadline from which the store's index of deadlines wakes the room."""
GRACE_MS: Final = 400
"""Milliseconds per rank that a node waits after a deadline if another node appended last."""
RANKS: Final = 4
"""Ranks that nodes are spread over, so that they do not all act at once."""


class Alarm:
    """Calls `ring` when the next deadline of a room may have come."""

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
        """Set the timer for the next deadline."""
        follower = self._follower
        if self._appended_last and follower.ahead.ms > FAR_MS:
            if self._timer is not None:
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
