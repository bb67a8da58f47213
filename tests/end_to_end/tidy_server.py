"""A server like any other that sweeps all the time, and logs what it found against what it had
counted. Its rooms fall asleep as soon as nobody looks. Run as a module."""

import asyncio
import gc
import logging
import sys
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

from towerhall_server import app
from towerhall_server.cli.main import main
from towerhall_server.room import actor
from towerhall_server.room.directory import Directory

logger = logging.getLogger(__name__)


async def sweep(left_behind: Callable[[], int]) -> None:
    gc.collect()
    gc.disable()
    before = left_behind()
    while True:
        await asyncio.sleep(0.2)
        counted, before = left_behind() - before, left_behind()
        logger.warning("swept: counted=%d found=%d", counted, gc.collect())


if __name__ == "__main__":
    with (
        patch.object(app, "sweep", sweep),
        patch.object(app, "Directory", partial(Directory, asleep_seconds=0.1)),
        patch.object(actor, "NEAR_MS", -1),  # no room is kept for what is due soon
    ):
        sys.exit(main())
