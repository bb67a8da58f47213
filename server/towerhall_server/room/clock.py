"""The service clock as a node knows it: what the store said last, and the time since then.

The store's clock stands while no node serves; here it is only guessed ahead for a little while.
Whoever acts on a guess that was wrong is told so by the store and waits for the rest.
"""

from time import monotonic, time
from typing import Final

MOST_DOUBT_MS: Final = 5000


class ServiceClock:
    """One clock for each shard."""

    def __init__(self) -> None:
        self._heard: dict[int, tuple[int, float]] = {}

    def hear(self, shard: int, served_ms: int) -> None:
        """The store has said what time it is."""
        self._heard[shard] = (served_ms, monotonic())

    def now_ms(self, shard: int) -> int:
        now = monotonic()
        served_ms, heard = self._heard.get(shard, (0, now))
        return served_ms + min(round(1000 * (now - heard)), MOST_DOUBT_MS)

    def stamps(self, shard: int) -> tuple[int, int]:
        """Wall clock and service clock, as clients are told them."""
        return round(time() * 1000), self.now_ms(shard)
