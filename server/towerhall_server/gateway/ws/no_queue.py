"""An empty queue, for connections whose messages go to a listener."""

import asyncio
from typing import NoReturn

from uvicorn._types import ASGIReceiveEvent


class _NoQueue(asyncio.Queue[ASGIReceiveEvent]):
    """Replaces the queue of attached connections: 2 KiB each that would stay empty."""

    def put_nowait(self, item: ASGIReceiveEvent) -> None:
        """Drop the event: a listener does not need the base class's calls to the app."""

    async def get(self) -> NoReturn:
        raise RuntimeError("messages of an attached connection go to its listener")


NO_QUEUE = _NoQueue()
