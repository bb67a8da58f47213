"""What every connection from outside has, whether it is to a room or to the lobby.

Somebody has to say who they are in time, is told things, may be refused, may read too slowly, and
leaves. What they came for is the matter of `connection` and `lobby_connection`.
"""

import asyncio
from abc import ABC, abstractmethod
from math import ceil

from towerhall_protocol.lobby import LobbyServerMessage
from towerhall_protocol.messages import ServerError, ServerMessage, ServerRejected
from towerhall_server.gateway.door import BANNED, Refusal, let_in, let_out
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.outbox import Outbox
from towerhall_server.gateway.session import HangUp, Hearing, Tell, error
from towerhall_server.gateway.socket import RoomSocket
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.seats import Person
from towerhall_server.telemetry.meters import CONNECTION_OBJECTS

NOBODY = Person("", "")


class Visit(ABC):
    """One connection, from its opening to its end."""

    __slots__ = ("_address", "_hall", "_hello_timer", "_outbox", "_socket", "person", "send")

    _session: Hearing

    def __init__(self, hall: Hall, socket: RoomSocket, address: str, *, text: bool) -> None:
        self._hall, self._socket, self._address = hall, socket, address
        self._outbox = Outbox(socket, text, self._resync, self._too_slow)
        self.send = self._outbox.send
        self.person = NOBODY
        loop = asyncio.get_running_loop()
        self._hello_timer: asyncio.TimerHandle | None = loop.call_later(
            hall.limits.hello_seconds, self._hello_late
        )

    # What the socket tells

    def writable(self) -> None:
        self._outbox.drained()

    def ended(self, reason: str) -> None:
        self._session.state = "over"
        self._hall.meters.closes[reason] += 1

    def lost(self) -> None:
        """There is nobody any more."""
        self._session.state = "over"
        self._stop_hello_timer()
        if self.person is not NOBODY:
            let_out(self._hall, self.person.id, self)
        self._hall.sockets_of_address.leave(self._address)
        self._hall.meters.left_behind += CONNECTION_OBJECTS
        self._outbox.close()

    # The way in

    def _introduce(self, level: int, token: str) -> bool:
        """Whether somebody who said hello may come in. If so it is known who it is; else they have
        been told why not."""
        self._stop_hello_timer()
        person = let_in(self._hall, level, token, self)
        if isinstance(person, Refusal):
            self._refuse(person)
            return False
        self.person = person
        return True

    def _hello_late(self) -> None:
        self._hello_timer = None
        self._fail("hello_late", error("hello_late", seconds=ceil(self._hall.limits.hello_seconds)))

    def _stop_hello_timer(self) -> None:
        if self._hello_timer is not None:
            self._hello_timer.cancel()
            self._hello_timer = None

    # What is told

    def _tell(self, message: ServerMessage | LobbyServerMessage) -> None:
        self.send(Prepared(message))

    def _answer(self, problem: Tell | HangUp) -> None:
        """What a session makes of a message that asks for nothing."""
        if problem.message is not None:
            self._complain(problem.message)
        if isinstance(problem, HangUp):
            self.close(problem.reason)

    def _complain(self, message: ServerError | ServerRejected) -> None:
        meters = self._hall.meters
        rejected = isinstance(message, ServerRejected)
        (meters.rejects if rejected else meters.bad_messages)[message.code] += 1
        self._tell(message)

    @abstractmethod
    def _resync(self) -> None:
        """See that a `reset` is sent, which stands for all that was left out."""

    # The way out

    def close(self, reason: str) -> None:
        self._socket.end_as(reason)

    def shut_out(self) -> None:
        """This person is banned, perhaps since just now."""
        self._refuse(BANNED)

    def _refuse(self, refusal: Refusal) -> None:
        self._fail(refusal.reason, refusal.message)

    def _fail(self, reason: str, message: ServerError) -> None:
        self._tell(message)
        self.close(reason)

    def _too_slow(self) -> None:
        self._fail("too_slow", error("too_slow"))
