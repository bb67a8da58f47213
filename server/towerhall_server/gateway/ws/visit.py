"""The shared half of connections to rooms, to the lobby and to the events of a person.

A client must greet in time, is sent messages, may be refused, may read too slowly, and leaves.
`connection`, `lobby_connection` and `events_connection` do the rest.
"""

import asyncio
from abc import ABC, abstractmethod
from math import ceil

from towerhall_protocol.lobby import LobbyServerMessage
from towerhall_protocol.messages import ServerError, ServerMessage, ServerRejected
from towerhall_server.access.admission import Denied
from towerhall_server.frames import Prepared
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.ws.door import Refusal, let_in, let_out, refusal_of
from towerhall_server.gateway.ws.outbox import Outbox
from towerhall_server.gateway.ws.session import HangUp, Hearing, Tell, error
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.room.seats import Person

UNKNOWN = Person("", "")


class Visit(ABC):
    """One connection, from opening to end."""

    __slots__ = ("_address", "_hall", "_hello_timer", "_outbox", "_socket", "owner", "send")

    _session: Hearing

    def __init__(self, hall: Hall, socket: RoomSocket, address: str, *, text: bool) -> None:
        self._hall, self._socket, self._address = hall, socket, address
        self._outbox = Outbox(socket, text, self._resync, self._too_slow)
        self.send = self._outbox.send
        self.owner = UNKNOWN
        """The person that the token names. A room knows them by an alias."""
        loop = asyncio.get_running_loop()
        self._hello_timer: asyncio.TimerHandle | None = loop.call_later(
            hall.limits.hello_seconds, self._hello_late
        )

    @property
    def operator(self) -> str:
        """The operator of the room that this person is in; empty if there is none."""
        return ""

    # Calls of the socket

    def writable(self) -> None:
        self._outbox.drained()

    def ended(self, reason: str) -> None:
        self._session.close()
        self._hall.meters.closes[reason] += 1

    def lost(self) -> None:
        """The connection is over."""
        self._session.close()
        self._stop_hello_timer()
        if self.owner is not UNKNOWN:
            let_out(self._hall, self.owner, self)
        self._hall.sockets_of_address.leave(self._address)
        self._outbox.close()

    # Admission

    def _introduce(self, level: int, token: str) -> bool:
        """Whether the person of a greeting is admitted. If so, `owner` is set; if not, the refusal
        was sent."""
        self._stop_hello_timer()
        person = let_in(self._hall, level, token, self)
        if isinstance(person, Refusal):
            self._refuse(person)
            return False
        self.owner = person
        return True

    def _hello_late(self) -> None:
        self._hello_timer = None
        self._fail("hello_late", error("hello_late", seconds=ceil(self._hall.limits.hello_seconds)))

    def _stop_hello_timer(self) -> None:
        if self._hello_timer is not None:
            self._hello_timer.cancel()
            self._hello_timer = None

    # Sending

    def _tell(self, message: ServerMessage | LobbyServerMessage) -> None:
        self.send(Prepared(message))

    def _answer(self, problem: Tell | HangUp) -> None:
        """Send a session's answer to a message."""
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
        """Request a `reset`, which replaces all dropped messages."""

    # Closing

    def close(self, reason: str) -> None:
        self._socket.end_as(reason)

    def shut_out(self, denied: Denied) -> None:
        """Disconnect a person who may no longer be here."""
        self._refuse(refusal_of(denied))

    def _refuse(self, refusal: Refusal) -> None:
        self._fail(refusal.reason, refusal.message)

    def _fail(self, reason: str, message: ServerError) -> None:
        self._tell(message)
        self.close(reason)

    def _too_slow(self) -> None:
        self._fail("too_slow", error("too_slow"))
