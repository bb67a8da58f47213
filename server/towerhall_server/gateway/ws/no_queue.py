"""Empty parts of the base class, for connections whose messages go to a listener."""

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


class _NoEvent(asyncio.Event):
    """Replaces the event that says whether the base class may write: nothing awaits it there. A
    listener is told by `writable`. 800 bytes each."""

    def set(self) -> None:
        """Do nothing: all attached connections share this."""

    def clear(self) -> None:
        """Do nothing."""

    async def wait(self) -> NoReturn:
        raise RuntimeError("an attached connection is written to without waiting")


NO_EVENT = _NoEvent()
