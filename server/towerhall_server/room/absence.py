"""Who is away for so long that the others may go on without them.

Presence is no part of the log, so nodes may differ for a moment: what follows from it is a commit
like any other, and the log decides.
"""

from time import monotonic
from typing import Final

from towerhall_server.game import Seat
from towerhall_server.room.follower import Follower

ABSENT_SECONDS: Final = 120.0
HOST_AWAY_SECONDS: Final = 60.0


class Absence:
    """What one node can tell about one room."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._host = follower.room.table.host
        self._host_at = monotonic()
        """When that host was last known to be there, or became host."""

    def seats(self) -> tuple[Seat, ...]:
        """Seats for which a bot may be called."""
        audience = self._follower.audience
        seats = map(Seat, range(len(self._follower.room.table.seats)))
        return tuple(seat for seat in seats if audience.absent_seconds(seat) >= ABSENT_SECONDS)

    def heir(self) -> Seat | None:
        """Who becomes host now; nobody as long as the host is there or has not been away for long.

        To be asked now and then: the time counts from the last time that the host was there.
        """
        follower, now = self._follower, monotonic()
        table = follower.room.table
        if not table.host:
            # A room that was made without a host is to have none.
            return None
        is_new = table.host != self._host
        if table.status != "waiting" or is_new or follower.audience.has_host:
            self._host, self._host_at = table.host, now
            return None
        if now - self._host_at < HOST_AWAY_SECONDS:
            return None
        for seat in follower.audience.online:
            holder = table.seats[seat]
            if holder is not None and holder.identity not in ("", table.host):
                return Seat(seat)
        return None
