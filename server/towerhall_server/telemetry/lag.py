"""Measures the lag of the event loop: the delay of a regular timer."""

import asyncio
from time import monotonic
from typing import Final

from towerhall_server.telemetry.meters import Histogram

EVERY_SECONDS: Final = 0.1


async def watch_lag(into: Histogram) -> None:
    """Measure forever. Long work on the loop delays this timer, and so shows."""
    while True:
        # Not the loop's own clock: it stands still while the loop is busy.
        planned = monotonic() + EVERY_SECONDS
        await asyncio.sleep(EVERY_SECONDS)
        into.observe(max(monotonic() - planned, 0.0))
