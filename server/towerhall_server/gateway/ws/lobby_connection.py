"""One connection to the lobby: carries messages from its session to the board, and patches back.

It is a listener of its socket and a viewer of the board. As with rooms, the first message names the
person, and the token is checked before any store call.
"""

import asyncio
import logging
from time import monotonic, time

from towerhall_protocol.level import LEVEL
from towerhall_protocol.lobby import (
    LobbyArrival,
    LobbyFilter,
    LobbyGreeting,
    LobbyHello,
    LobbyWelcome,
)
from towerhall_protocol.messages import (
    ClientPing,
    ServerPaused,
    ServerPong,
)
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.ws.door import STORE_UNAVAILABLE
from towerhall_server.gateway.ws.lobby_session import LobbySession
from towerhall_server.gateway.ws.session import HangUp, Tell, error
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.gateway.ws.visit import Visit
from towerhall_server.lobby.board import Board
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)


class LobbyConnection(Visit):
    """A viewer of the list of rooms behind a socket."""

    __slots__ = ("_board", "_entering", "_session")

    _session: LobbySession

    def __init__(
        self, hall: Hall, board: Board, socket: RoomSocket, address: str, *, text: bool
    ) -> None:
        super().__init__(hall, socket, address, text=text)
        self._board = board
        self._session = LobbySession(hall.limits, hall.codec, text=text)
        self._entering: asyncio.Task[None] | None = None

    # Calls of the socket

    def received(self, data: bytes | str) -> None:
        match self._session.receive(data, monotonic()):
            case LobbyHello(greeting):
                self._entering = asyncio.create_task(self._guarded(greeting))
            case LobbyFilter(wanted):
                if self._entered:
                    self._board.choose(self, wanted)
                else:
                    self._tell(error("hello_expected"))
            case ClientPing(seq):
                self._tell(ServerPong(seq, _now()))
            case (Tell() | HangUp()) as problem:
                self._answer(problem)

    def lost(self) -> None:
        if self._entering is not None:
            self._entering.cancel()
        self._board.remove(self)
        super().lost()

    def _resync(self) -> None:
        self._board.resync(self)

    # Entering

    @property
    def _entered(self) -> bool:
        return self._entering is not None and self._entering.done()

    async def _guarded(self, greeting: LobbyGreeting) -> None:
        try:
            await self._enter(greeting)
        except StoreError:
            self._refuse(STORE_UNAVAILABLE)
        except Exception:
            logger.exception("a viewer of the lobby could not be added")
            self._fail("server_fault", error("server_fault"))

    async def _enter(self, greeting: LobbyGreeting) -> None:
        """Take a greeting to the board. Every failure has its code."""
        if not self._introduce(greeting.level, greeting.token):
            return None
        if self._hall.directory.is_cut:
            return self._refuse(STORE_UNAVAILABLE)
        await self._board.ready()
        # No `await` from here on: nothing may change between the list and the first patch.
        shown = self._board.add(self, greeting.filter)
        arrival = LobbyArrival(self.owner.id, self.owner.name, LEVEL, _now(), shown)
        self._tell(LobbyWelcome(arrival))
        if self._board.paused:
            self._tell(ServerPaused(True))
        return None


def _now() -> tuple[int, int]:
    return round(time() * 1000), 0
