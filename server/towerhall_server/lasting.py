"""Tasks that last as long as the server does."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

logger = logging.getLogger(__name__)

PAUSE_SECONDS: Final = 1.0


def lasting(name: str, run: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
    """Run something that does not end by itself. A fault in it is noted, and it begins again: a
    server without its beat, or without the news of others, looks alive and is not."""
    return asyncio.create_task(_again_and_again(name, run), name=name)


async def _again_and_again(name: str, run: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            return await run()
        except Exception:
            logger.exception("%s met a fault and begins again", name)
        await asyncio.sleep(PAUSE_SECONDS)
