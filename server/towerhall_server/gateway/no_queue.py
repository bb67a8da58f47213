"""A queue that holds nothing, for connections whose messages go to a listener."""

import asyncio
from typing import NoReturn

from uvicorn._types import ASGIReceiveEvent


class _NoQueue(asyncio.Queue[ASGIReceiveEvent]):
    """Stands in for the queue of attached connections, 2 KiB each that would stay empty."""

    def put_nowait(self, item: ASGIReceiveEvent) -> None:
        """What the base class tells the app is of no use to a listener."""

    async def get(self) -> NoReturn:
        raise RuntimeError("messages of an attached connection go to its listener")


NO_QUEUE = _NoQueue()
