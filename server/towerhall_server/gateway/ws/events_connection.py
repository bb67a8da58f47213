"""One connection to what concerns a person: takes their greeting to `lobby.events`.

As with rooms, the first message names the person, and the token is checked before any store call.
Reading all places costs as much as a question over HTTP, so it has the same rate.
"""

import asyncio
import logging
from time import monotonic, time

from towerhall_protocol.events import EventsGreeting, EventsHello
from towerhall_protocol.level import LEVEL
from towerhall_protocol.lobby import LobbyArrival, LobbyWelcome
from towerhall_protocol.messages import ClientPing, ServerPaused, ServerPong
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.ws.door import STORE_UNAVAILABLE, Refusal
from towerhall_server.gateway.ws.events_session import EventsSession
from towerhall_server.gateway.ws.session import HangUp, Tell, error
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.gateway.ws.visit import Visit
from towerhall_server.lobby.events import Events, Feed
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)


class EventsConnection(Visit):
    """A person who follows what concerns them, behind a socket."""

    __slots__ = ("_entering", "_events", "_feed", "_session")

    _session: EventsSession

    def __init__(
        self, hall: Hall, events: Events, socket: RoomSocket, address: str, *, text: bool
    ) -> None:
        super().__init__(hall, socket, address, text=text)
        self._events = events
        self._session = EventsSession(hall.limits, hall.codec, text=text)
        self._entering: asyncio.Task[None] | None = None
        self._feed: Feed | None = None

    # Calls of the socket

    def received(self, data: bytes | str) -> None:
        match self._session.receive(data, monotonic()):
            case EventsHello(greeting):
                self._entering = asyncio.create_task(self._guarded(greeting))
            case ClientPing(seq):
                self._tell(ServerPong(seq, _now()))
            case (Tell() | HangUp()) as problem:
                self._answer(problem)

    def lost(self) -> None:
        if self._entering is not None:
            self._entering.cancel()
        if self._feed is not None:
            self._events.leave(self._feed, self)
            self._feed = None
        super().lost()

    def _resync(self) -> None:
        if self._feed is not None:
            self._feed.resync(self)

    # Entering

    async def _guarded(self, greeting: EventsGreeting) -> None:
        try:
            await self._enter(greeting)
        except StoreError:
            self._refuse(STORE_UNAVAILABLE)
        except Exception:
            logger.exception("a person could not follow what concerns them")
            self._fail("server_fault", error("server_fault"))

    async def _enter(self, greeting: EventsGreeting) -> None:
        """Begin to follow. Every failure has its code."""
        if not self._introduce(greeting.level, greeting.token):
            return None
        if self._hall.directory.is_cut:
            return self._refuse(STORE_UNAVAILABLE)
        wait_ms = await self._hall.quotas.take(questions_per_identity=self.owner.id)
        if wait_ms:
            return self._refuse(Refusal("busy", error("busy", retry_ms=wait_ms)))
        self._feed = feed = self._events.enter(self.owner.id)
        await feed.ready()
        # No `await` from here on: nothing may change between the list and the first patch.
        shown = feed.add(self)
        self._tell(LobbyWelcome(LobbyArrival(self.owner.id, self.owner.name, LEVEL, _now(), shown)))
        if feed.paused:
            self._tell(ServerPaused(True))
        return None


def _now() -> tuple[int, int]:
    return round(time() * 1000), 0
