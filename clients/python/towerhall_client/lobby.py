"""The live list of rooms, kept up to date over any number of breaks.

async with look_at_lobby(url, token, Filter(status="waiting", free=1)) as lobby:
    print(lobby.rooms)
    async for rooms in lobby.changes(): ...
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from websockets.exceptions import ConnectionClosed

from towerhall_client.live_list import LiveList, kept_up
from towerhall_client.retry import Retry
from towerhall_client.sendable import as_read
from towerhall_client.wire import packed
from towerhall_protocol.level import LEVEL, MSGPACK
from towerhall_protocol.lobby import Filter, LobbyFilter, LobbyGreeting, LobbyHello


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
    async with kept_up(lobby, "lobby"):
        yield lobby


class Lobby(LiveList):
    """The rooms that the client wants to see."""

    def __init__(
        self, url: str, token: str, wanted: Filter, subprotocol: str, retry: Retry
    ) -> None:
        super().__init__(url, "/v1/lobby", self._greeting, subprotocol, retry)
        self._token = token
        self.wanted = wanted

    def _greeting(self) -> LobbyHello:
        return LobbyHello(LobbyGreeting(self._token, LEVEL, self.wanted))

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
