"""How late the event loop is: something is planned often, and how late it comes is noted."""

import asyncio
from time import monotonic
from typing import Final

from towerhall_server.telemetry.meters import Histogram

EVERY_SECONDS: Final = 0.1


async def watch_lag(into: Histogram) -> None:
    """For ever. What keeps the loop busy for long delays this, and so is seen."""
    while True:
        # Not the loop's own clock: it stands still while the loop is busy.
        planned = monotonic() + EVERY_SECONDS
        await asyncio.sleep(EVERY_SECONDS)
        into.observe(max(monotonic() - planned, 0.0))
