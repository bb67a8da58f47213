"""Old frames, asked for page by page until all have come, over breaks and refusals.

The server answers requests for history in order and one at a time, so one is under way at most.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from towerhall_client.errors import ServiceError, TableClosedError
from towerhall_client.line import Disconnected, Happening, Line
from towerhall_protocol import happenings as h
from towerhall_protocol.messages import ClientHistory, ServerFrame

ASK_AGAIN: Final = frozenset({"too_many", "store_unavailable"})
NOT_GRANTED: Final = frozenset({"bad_range", "room_gone"})
PAUSE_SECONDS: Final = 1.0


class History:
    """The past of one room, over the line of one client."""

    def __init__(
        self,
        line: Line,
        line_is_up: Callable[[], Awaitable[None]],
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._line = line
        self._line_is_up = line_is_up
        self._sleep = sleep
        self._one_at_a_time = asyncio.Lock()
        self._page: asyncio.Future[h.HistoryCame | h.ErrorCame | None] | None = None

    async def frames(self, first: int, last: int) -> tuple[ServerFrame, ...]:
        """All frames of that range. `ServiceError` if there is no such range."""
        found: list[ServerFrame] = []
        async with self._one_at_a_time:
            while first <= last:
                page = await self._next_page(first, last)
                if not page:
                    break
                found += page
                first = page[-1].seq + 1
        return tuple(found)

    async def _next_page(self, first: int, last: int) -> tuple[ServerFrame, ...]:
        while True:
            await self._line_is_up()
            self._page = asyncio.get_running_loop().create_future()
            self._line.post(ClientHistory(first, last))
            came = await self._page
            if isinstance(came, h.HistoryCame):
                return came.frames
            if came is None:
                continue
            if came.code in NOT_GRANTED:
                raise ServiceError(came.code, came.hint, 0, came.params)
            wait_ms = came.params.get("retry_ms")
            await self._sleep(wait_ms / 1000 if isinstance(wait_ms, int) else PAUSE_SECONDS)

    def happened(self, happening: Happening) -> None:
        """Something happened on the line; it may be the answer."""
        if self._page is None or self._page.done():
            return
        match happening:
            case h.HistoryCame():
                self._page.set_result(happening)
            case h.ErrorCame(code) if code in ASK_AGAIN | NOT_GRANTED:
                self._page.set_result(happening)
            case Disconnected():
                self._page.set_result(None)

    def end(self, error: TableClosedError) -> None:
        if self._page is not None and not self._page.done():
            self._page.set_exception(error)
