"""Which seats, and whether the host, have been absent long enough for the others to go on.

Presence is not in the log, so nodes may differ for a moment. Its consequences are commits like any
others, and the log decides between them.
"""

from time import monotonic
from typing import Final

from towerhall_server.game import Seat
from towerhall_server.live.follower import Follower

ABSENT_SECONDS: Final = 60.0
"""Seconds without a connection after which a bot may be called for a seat."""
HOST_AWAY_SECONDS: Final = 60.0
"""Seconds without a connection of the host after which the role passes on."""


class Absence:
    """Absences in one room, as one node sees them."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._host = follower.room.table.host
        self._host_at = monotonic()
        """When that host was last seen, or became host."""

    def seats(self) -> tuple[Seat, ...]:
        """Seats for which a bot may be called."""
        presence, table = self._follower.audience.presence, self._follower.room.table
        absent_ms = table.settings.hurried(round(1000 * ABSENT_SECONDS))
        seats = map(Seat, range(len(table.seats)))
        return tuple(seat for seat in seats if 1000 * presence.absent_seconds(seat) >= absent_ms)

    def heir(self) -> Seat | None:
        """The seat that becomes host now; `None` while the host is here or was here lately.

        Call this every second: the absence counts from the last call that saw the host.
        """
        follower, now = self._follower, monotonic()
        table = follower.room.table
        if not table.host:
            # A room that was created without a host never gets one.
            return None
        is_new = table.host != self._host
        if table.status != "waiting" or is_new or follower.audience.presence.has_host:
            self._host, self._host_at = table.host, now
            return None
        away_ms = table.settings.hurried(round(1000 * HOST_AWAY_SECONDS))
        if 1000 * (now - self._host_at) < away_ms:
            return None
        for seat in follower.audience.presence.online:
            holder = table.seats[seat]
            if holder is not None and holder.identity not in ("", table.host):
                return Seat(seat)
        return None
