"""Tasks that run as long as the server."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

logger = logging.getLogger(__name__)

PAUSE_SECONDS: Final = 1.0


def in_background(name: str, run: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
    """Run an endless task. A fault in it is logged, and it is restarted: a server without its beat,
    or without news of other nodes, looks alive and is not."""
    return asyncio.create_task(_again_and_again(name, run), name=name)


async def _again_and_again(name: str, run: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            return await run()
        except Exception:
            logger.exception("%s failed and is restarted", name)
        await asyncio.sleep(PAUSE_SECONDS)
