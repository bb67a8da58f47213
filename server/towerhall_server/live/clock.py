"""The store's clocks as a node estimates them: the last answer plus the time since then.

The service clock stands still while no node serves, so the estimate runs ahead for 5 s at most.
Nodes propose stamps and meet deadlines by the estimate. The store refuses wrong stamps.
"""

from time import monotonic, time

from towerhall_server.eventlog.entry import Stamps
from towerhall_server.eventlog.shared import MOST_DOUBT_MS


class ServiceClock:
    """The clocks of each shard."""

    def __init__(self) -> None:
        self._heard: dict[int, tuple[Stamps, float]] = {}

    def hear(self, shard: int, said: Stamps) -> int:
        """Take in the store's clocks, and return the service time that is known now. It never goes
        back; the store's clock does, if the store is replaced by an older copy of itself."""
        before, _ = self._heard.get(shard, (said, 0.0))
        known = max(before.served_ms, said.served_ms)
        self._heard[shard] = (Stamps(said.wall_ms, known), monotonic())
        return known

    def now(self, shard: int) -> Stamps:
        """The estimated wall clock and service clock of the store."""
        heard = self._heard.get(shard)
        if heard is None:
            return Stamps(round(time() * 1000), 0)
        said, since = heard
        passed_ms = round(1000 * (monotonic() - since))
        return Stamps(said.wall_ms + passed_ms, said.served_ms + min(passed_ms, MOST_DOUBT_MS))

    def is_sure(self, shard: int) -> bool:
        """Whether the store has told its clocks within the last seconds. Until then the service
        clock did not stop, so the estimate is right."""
        heard = self._heard.get(shard)
        return heard is not None and 1000 * (monotonic() - heard[1]) < MOST_DOUBT_MS

    def now_ms(self, shard: int) -> int:
        """The service clock alone."""
        return self.now(shard).served_ms

    def stamps(self, shard: int) -> tuple[int, int]:
        """Both clocks, as clients get them."""
        now = self.now(shard)
        return now.wall_ms, now.served_ms
