"""Old frames, asked for page by page until all have come, over breaks and refusals.

One request is under way at most, as far as this side knows: the server may still be at one that was
given up here, or at an earlier copy. Its answers come in any order and name no request, and its
errors may be about any message (P-90). Therefore a page is taken only if it fits. After an error
that may be about another message, the page is both waited for and, after a while, requested again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from towerhall_client.errors import ServiceError, TableClosedError
from towerhall_client.line import Disconnected, Line, Update
from towerhall_client.sendable import as_read
from towerhall_protocol import updates as u
from towerhall_protocol.messages import ClientHistory, ServerFrame

ASK_AGAIN: Final = frozenset({"too_many", "store_unavailable"})
PAUSE_SECONDS: Final = 1.0

Frames = tuple[ServerFrame, ...]


class _Request:
    """A page that is waited for."""

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self.page: asyncio.Future[Frames] = asyncio.get_running_loop().create_future()
        self.again: asyncio.Future[float | None] = self.page.get_loop().create_future()
        """Done when there may be no answer: seconds to wait before asking anew, if any."""

    def ask_again(self, seconds: float | None) -> None:
        if not self.again.done():
            self.again.set_result(seconds)

    def is_answered_by(self, frames: Frames, last: int) -> bool:
        """Whether the page begins where this does, and has nothing beyond its end.

        An empty one begins nowhere, but ends where this might: there is no more than that.
        """
        if frames and (frames[0].seq != self.first or frames[-1].seq > self.last):
            return False
        return self.first - 1 <= last <= self.last

    def is_refused_by(self, code: str, params: Mapping[str, int | str]) -> bool:
        """Whether such an error is, or would as well be, the answer to this."""
        newest = params.get("last")
        outside = not isinstance(newest, int) or self.first < 1 or self.first > newest
        return code == "room_gone" or (code == "bad_range" and outside)


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
        self._request: _Request | None = None

    async def frames(self, first: int, last: int) -> Frames:
        """The frames of that range, as far as there are any. `ServiceError` if it begins outside.

        `ValueError` or `TypeError` if these are no numbers that can be asked for.
        """
        as_read(ClientHistory(first, last))
        found: list[ServerFrame] = []
        async with self._one_at_a_time:
            while first <= last:
                try:
                    page = await self._next_page(first, last)
                except ServiceError as error:
                    # The log ends where the last page did: there are no more.
                    if found and error.params.get("last") == first - 1:
                        break
                    raise
                if not page:
                    break
                found += page
                first = page[-1].seq + 1
        return tuple(found)

    async def _next_page(self, first: int, last: int) -> Frames:
        request = self._request = _Request(first, last)
        try:
            while not request.page.done():
                await self._line_is_up()
                request.again = request.page.get_loop().create_future()
                self._line.post(ClientHistory(first, last))
                await _first_of(request.page, request.again)
                if not request.page.done():
                    await self._pause(request, request.again.result())
            return request.page.result()
        finally:
            self._request = None

    async def _pause(self, request: _Request, seconds: float | None) -> None:
        """Wait until the page comes, at most this many seconds."""
        if seconds is None:
            return
        pause = asyncio.ensure_future(self._sleep(seconds))
        try:
            await _first_of(request.page, pause)
            if pause.done():
                pause.result()
        finally:
            pause.cancel()

    def happened(self, update: Update) -> None:
        """Something happened on the line; it may be the answer."""
        request = self._request
        if request is None or request.page.done():
            return
        match update:
            case u.HistoryCame(frames, last) if request.is_answered_by(frames, last):
                request.page.set_result(frames)
            case u.ErrorCame(code, params) if code in ASK_AGAIN:
                wait_ms = params.get("retry_ms")
                request.ask_again(wait_ms / 1000 if isinstance(wait_ms, int) else PAUSE_SECONDS)
            case u.ErrorCame(code, params, hint) if request.is_refused_by(code, params):
                request.page.set_exception(ServiceError(code, hint, 0, params))
            case u.Reset() | Disconnected():
                # The page may have been left out (P-74), or is lost with the connection.
                request.ask_again(None)

    def end(self, error: TableClosedError) -> None:
        if self._request is not None and not self._request.page.done():
            self._request.page.set_exception(error)


async def _first_of(*futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
