"""Rate-limited log lines about misbehaving clients.

A line may contain the client's address, and nothing else that the client sent.
"""

import logging
from time import monotonic
from typing import Final

from towerhall_server.access.rates import Rate

PACE: Final = Rate(0.1, 5)
logger = logging.getLogger(__name__)


class Complaints:
    """The rate-limited lines of one server."""

    __slots__ = ("_bucket", "_untold")

    def __init__(self) -> None:
        self._bucket = PACE.bucket()
        self._untold = 0

    def tell(self, what: str, address: str) -> None:
        """Log it, or count it for the next line."""
        if self._bucket.take(monotonic()):
            self._untold += 1
            return
        untold, self._untold = self._untold, 0
        more = f"; {untold} more were not logged" if untold else ""
        logger.warning("refused %s: %s%s", address or "a client", what, more)
