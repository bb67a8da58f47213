"""The service clock as a node knows it: what the store said last, and the time since then.

The store's clock stands while no node serves; here it is only guessed ahead for a little while.
Whoever acts on a guess that was wrong is told so by the store and waits for the rest.
"""

from time import monotonic, time
from typing import Final

from towerhall_server.eventlog.keys import shard_of

MOST_DOUBT_MS: Final = 5000


class ServiceClock:
    """One clock for each shard."""

    def __init__(self) -> None:
        self._heard: dict[int, tuple[int, float]] = {}

    def hear(self, shard: int, served_ms: int) -> None:
        """The store has said what time it is."""
        self._heard[shard] = (served_ms, monotonic())

    def now_ms(self, room: str) -> int:
        served_ms, heard = self._heard.get(shard_of(room), (0, monotonic()))
        return served_ms + min(round(1000 * (monotonic() - heard)), MOST_DOUBT_MS)

    def stamps(self, room: str) -> tuple[int, int]:
        """Wall clock and service clock, as clients are told them."""
        return round(time() * 1000), self.now_ms(room)
