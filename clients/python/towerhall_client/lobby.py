"""The live list of rooms, kept up to date over any number of breaks.

async with look_at_lobby(url, token, Filter(status="waiting", free=1)) as lobby:
    print(lobby.rooms)
    async for rooms in lobby.changes(): ...
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any, Final

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from towerhall_client.errors import TableClosedError, closed_by
from towerhall_client.retry import Retry
from towerhall_client.sendable import as_read
from towerhall_client.way_back import WayBack
from towerhall_client.wire import (
    Break,
    accompanied,
    end_of,
    one_connection,
    packed,
    socket_url,
    unpacked,
)
from towerhall_protocol.codec import CodecError
from towerhall_protocol.document import Document
from towerhall_protocol.level import LEVEL, MSGPACK
from towerhall_protocol.lobby import (
    Filter,
    LobbyFilter,
    LobbyGreeting,
    LobbyHello,
    LobbyPatch,
    LobbyReset,
    LobbyWelcome,
)
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.messages import ServerError, ServerGo, ServerPaused
from towerhall_protocol.wire import read_lobby_server

WELCOME_SECONDS: Final = 15.0
STEADY_SECONDS: Final = 10.0
"""Seconds after which a connection counts as good, and the backoff starts anew."""


@asynccontextmanager
async def look_at_lobby(
    url: str,
    token: str,
    wanted: Filter | None = None,
    *,
    subprotocol: str = MSGPACK,
    retry: Retry | None = None,
) -> AsyncIterator["Lobby"]:
    """The list, from the first time that it is known on. `TableClosedError` if there is none."""
    lobby = Lobby(url, token, wanted or Filter(), subprotocol, retry or Retry())
    task = asyncio.create_task(lobby.run(), name="lobby")
    try:
        await lobby.until(lambda: lobby.entered)
        yield lobby
    finally:
        task.cancel()
        await asyncio.wait((task,))
        if not task.cancelled():
            task.result()


class Lobby:
    """The rooms that the client wants to see."""

    def __init__(
        self, url: str, token: str, wanted: Filter, subprotocol: str, retry: Retry
    ) -> None:
        self._url = socket_url(url, "/v1/lobby")
        self._token = token
        self._subprotocol = subprotocol
        self._way_back = WayBack(retry)
        self._change = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._error: ServerError | None = None
        self._closed: TableClosedError | None = None
        self._welcomed_at = monotonic()
        self.wanted = wanted
        self.list: Document = {"rooms": {}}
        self.version = 0
        """Grows with every change of the list."""
        self.entered = False
        """Whether the list has ever been known."""
        self.up = False
        """Whether it is kept up to date at this moment."""
        self.paused = False
        """Whether the service cannot read its store, so that the list may be old."""

    @property
    def rooms(self) -> dict[str, dict[str, Any]]:
        """The listed rooms, by code."""
        found: Any = self.list["rooms"]
        return dict(found)

    @property
    def more(self) -> int:
        """Number of rooms behind this page that match."""
        found = self.list.get("more", 0)
        return found if isinstance(found, int) else 0

    @property
    def next(self) -> str:
        """The filter's `after` for the next page; empty if this is the last one."""
        found = self.list.get("next", "")
        return found if isinstance(found, str) else ""

    async def choose(self, wanted: Filter) -> None:
        """See other rooms from now on. `ValueError` or `TypeError` if no filter can say that."""
        as_read(LobbyFilter(wanted))
        self.wanted = wanted
        if self.up and self._socket is not None:
            with suppress(ConnectionClosed):  # the next hello says it
                await self._socket.send(packed(LobbyFilter(wanted), self._subprotocol))

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until the condition, which is looked at whenever something changes, holds."""
        while not condition():
            if self._closed is not None:
                raise self._closed
            await self._change.wait()

    async def changes(self) -> AsyncGenerator[dict[str, dict[str, Any]], None]:
        """The rooms after each change; changes that come faster than they are read are one."""
        seen = self.version
        while True:
            await self.until(partial(self._is_newer, seen))
            seen = self.version
            yield self.rooms

    def _is_newer(self, seen: int) -> bool:
        return self.version != seen

    # The line

    async def run(self) -> None:
        """Keep the list up to date; when that is no longer allowed, fail all waiting callers."""
        try:
            while True:
                end = await one_connection(self._url, self._subprotocol, self._talk)
                await self._way_back.after(end, self._broke, entered=self.entered)
        except TableClosedError as error:
            self._end(error)
        except BaseException as error:
            self._end(closed_by(error))
            raise
        finally:
            await self._way_back.close()

    def _broke(self, _seconds: float) -> None:
        self._changed()

    async def _talk(self, socket: ClientConnection) -> Break:
        return await accompanied(self._listen(socket), self._way_back.leave(socket))

    async def _listen(self, socket: ClientConnection) -> Break:
        self._error = None
        self._socket = socket
        greeting = LobbyGreeting(self._token, LEVEL, self.wanted)
        try:
            await socket.send(packed(LobbyHello(greeting), self._subprotocol))
            while True:
                async with asyncio.timeout(None if self.up else WELCOME_SECONDS):
                    data = await socket.recv()
                self._take(data)
        except CodecError as error:
            return Break("server_fault", f"the server sent nonsense: {error}", True)
        except ConnectionClosed as closed:
            return self._break(closed)
        except asyncio.CancelledError:
            await socket.close()
            raise
        finally:
            if self.up and monotonic() - self._welcomed_at > STEADY_SECONDS:
                self._way_back.lasted()
            self.up = False
            self._socket = None

    def _break(self, closed: ConnectionClosed) -> Break:
        told = self._error
        return end_of(closed, None if told is None else (told.code, told.hint, told.params))

    def _take(self, data: str | bytes) -> None:
        self._error = None
        match read_lobby_server(unpacked(data, self._subprotocol)):
            case LobbyWelcome(arrival):
                self.up = self.entered = True
                self.paused = False
                self._welcomed_at = monotonic()
                self._show(arrival.list)
            case LobbyReset(shown):
                self._show(shown)
            case LobbyPatch(patch):
                self._show(apply(self.list, patch))
            case ServerPaused(paused):
                self.paused = paused
                self._changed()
            case ServerGo(within_ms):
                self._way_back.go(within_ms)
            case ServerError() as error:
                self._error = error

    def _show(self, shown: Document) -> None:
        self.list = shown
        self.version += 1
        self._changed()

    def _end(self, error: TableClosedError) -> None:
        self._closed = error
        self._changed()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()
