"""One connection to the lobby: carries what its session intends to the board, and back.

It is a listener to its socket and a viewer to the board. As with rooms, the first message decides
who it is, and the token is checked before the store is asked anything.
"""

import asyncio
import logging
from math import ceil
from time import monotonic, time

from towerhall_protocol.level import LEVEL
from towerhall_protocol.lobby import (
    LobbyArrival,
    LobbyFilter,
    LobbyGreeting,
    LobbyHello,
    LobbyServerMessage,
    LobbyWelcome,
)
from towerhall_protocol.messages import (
    ClientPing,
    ServerError,
    ServerPaused,
    ServerPong,
    ServerRejected,
)
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.gateway.door import BANNED, STORE_UNAVAILABLE, Refusal, let_in, let_out
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.lobby_session import LobbySession
from towerhall_server.gateway.outbox import Outbox
from towerhall_server.gateway.session import HangUp, Tell, error
from towerhall_server.gateway.socket import RoomSocket
from towerhall_server.lobby.board import Board
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.seats import Person
from towerhall_server.telemetry.meters import CONNECTION_OBJECTS

logger = logging.getLogger(__name__)


class LobbyConnection:
    """Somebody who looks at the list of rooms through a socket."""

    __slots__ = (
        "_address",
        "_board",
        "_entering",
        "_hall",
        "_hello_timer",
        "_outbox",
        "_person",
        "_session",
        "_socket",
    )

    def __init__(
        self, hall: Hall, board: Board, socket: RoomSocket, address: str, *, text: bool
    ) -> None:
        self._hall = hall
        self._board = board
        self._address = address
        self._socket = socket
        self._session = LobbySession(hall.limits, hall.codec, text=text)
        self._outbox = Outbox(socket, text, self._resync, self._too_slow)
        self._person: Person | None = None
        self._entering: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        self._hello_timer = loop.call_later(hall.limits.hello_seconds, self._hello_late)

    # What the socket tells

    def received(self, data: bytes | str) -> None:
        match self._session.receive(data, monotonic()):
            case LobbyHello(greeting):
                self._hello_timer.cancel()
                self._entering = asyncio.create_task(self._guarded(greeting))
            case LobbyFilter(wanted):
                if self._entered:
                    self._board.choose(self, wanted)
                else:
                    self._tell(error("hello_expected"))
            case ClientPing(seq):
                self._tell(ServerPong(seq, _now()))
            case Tell(message):
                self._complain(message)
            case HangUp(reason, problem):
                if problem is not None:
                    self._complain(problem)
                self.close(reason)

    def writable(self) -> None:
        self._outbox.drained()

    def ended(self, reason: str) -> None:
        self._session.state = "over"
        self._hall.meters.closes[reason] += 1

    def lost(self) -> None:
        self._session.state = "over"
        self._hello_timer.cancel()
        if self._entering is not None:
            self._entering.cancel()
        self._board.remove(self)
        if self._person is not None:
            let_out(self._hall, self._person.id, self)
        self._hall.sockets_of_address.leave(self._address)
        self._hall.meters.left_behind += CONNECTION_OBJECTS
        self._outbox.close()

    # What the board tells

    def send(self, *messages: Prepared) -> None:
        self._outbox.send(*messages)

    def close(self, reason: str) -> None:
        self._socket.end_as(reason)

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
            logger.exception("somebody could not be shown the lobby")
            self._fail("server_fault", "server_fault")

    async def _enter(self, greeting: LobbyGreeting) -> None:
        """From a greeting to the board; every way of failing has its code."""
        person = let_in(self._hall, greeting.level, greeting.token, self)
        if isinstance(person, Refusal):
            return self._refuse(person)
        self._person = person
        if self._hall.directory.is_cut:
            return self._refuse(STORE_UNAVAILABLE)
        await self._board.ready()
        # From here on in one step: nothing may change between the list and the first patch.
        shown = self._board.add(self, greeting.filter)
        arrival = LobbyArrival(person.id, person.name, LEVEL, _now(), shown)
        self._tell(LobbyWelcome(arrival))
        if self._board.paused:
            self._tell(ServerPaused(True))
        return None

    def shut_out(self) -> None:
        """This person is banned, perhaps since just now."""
        self._refuse(BANNED)

    def _refuse(self, refusal: Refusal) -> None:
        self._tell(refusal.message)
        self.close(refusal.reason)

    def _fail(self, reason: str, code: str, **params: int | str) -> None:
        self._tell(error(code, **params))
        self.close(reason)

    def _hello_late(self) -> None:
        self._fail("hello_late", "hello_late", seconds=ceil(self._hall.limits.hello_seconds))

    # The way out

    def _tell(self, message: LobbyServerMessage) -> None:
        self.send(Prepared(message))

    def _complain(self, message: ServerError | ServerRejected) -> None:
        self._hall.meters.bad_messages[message.code] += 1
        self.send(Prepared(message))

    def _resync(self) -> None:
        self._board.resync(self)

    def _too_slow(self) -> None:
        self._fail("too_slow", "too_slow")


def _now() -> tuple[int, int]:
    return round(time() * 1000), 0
