"""When a client leaves a server that is about to stop, and when it comes back after any break.

This is the same for rooms and for the lobby. How long waits are is the matter of `retry`.
"""

import asyncio
from collections.abc import Callable

from websockets.asyncio.client import ClientConnection

from towerhall_client.errors import TableClosedError
from towerhall_client.retry import Backoff, Retry
from towerhall_client.wire import Break


class WayBack:
    """The breaks of one client, one after the other."""

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._backoff = Backoff(retry)
        self._waited = 0.0
        self._told_to_go = asyncio.Event()
        self._moment: asyncio.Task[None] | None = None

    def lasted(self) -> None:
        """The connection was a good one, so that the next wait is a short one again."""
        self._backoff.reset()

    def go(self, within_ms: int) -> None:
        """The server said go: draw the moment to come back (P-96), unless there is one."""
        if self._moment is None:
            seconds = self._retry.chance() * within_ms / 1000
            self._moment = asyncio.create_task(self._sleep(seconds))
            self._told_to_go.set()

    async def leave(self, socket: ClientConnection) -> None:
        """Close the connection at the moment that was drawn, if one is."""
        await self._told_to_go.wait()
        if self._moment is not None:
            # Not by `await`: if the connection ends before, the moment still has to come.
            await asyncio.wait((self._moment,))
            self._moment.result()
            await socket.close()

    async def after(self, end: Break, tell: Callable[[float], None], *, entered: bool) -> None:
        """Wait until it is time to connect again, and tell before for how long.

        `TableClosedError` if that may not be, or if it was tried for too long without ever getting
        in.
        """
        if not end.may_return:
            raise TableClosedError(end.code, end.hint)
        if self._moment is not None:
            # It was drawn when the server said go, so it is awaited, not drawn again.
            tell(0.0)
            await self._moment
            self._moment = None
            self._told_to_go.clear()
            return
        seconds = self._backoff.next_seconds(end.wait_seconds)
        self._waited = 0.0 if entered else self._waited + seconds
        if self._waited > self._retry.patience_seconds:
            raise TableClosedError(end.code, end.hint)
        tell(seconds)
        await self._retry.sleep(seconds)

    async def close(self) -> None:
        """Forget a departure that was planned."""
        if self._moment is not None:
            self._moment.cancel()
            await asyncio.wait((self._moment,))

    async def _sleep(self, seconds: float) -> None:
        await self._retry.sleep(seconds)
