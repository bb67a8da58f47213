"""One connection to one room: carries what a session intends to the room, and back.

It is a listener to its socket and a viewer to its room. The first message decides who it is; the
token is checked before the store is asked anything.
"""

import asyncio
import logging
import re
from collections.abc import Coroutine
from math import ceil
from time import monotonic
from typing import Any

from towerhall_protocol.messages import (
    ClientChat,
    ClientCommand,
    ClientEmote,
    ClientHello,
    ClientHistory,
    ClientPing,
    Greeting,
    ServerError,
    ServerMessage,
    ServerPong,
    ServerRejected,
)
from towerhall_server.eventlog.batch import StoreError
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.game import Seat
from towerhall_server.gateway.door import BANNED, STORE_UNAVAILABLE, Refusal, busy, let_in, let_out
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.names import clean_chat
from towerhall_server.gateway.outbox import Outbox
from towerhall_server.gateway.session import HangUp, Session, Tell, error
from towerhall_server.gateway.socket import RoomSocket
from towerhall_server.lobby.mine import admits
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.chat import BACKLOG, make_emote, message_of, say
from towerhall_server.room.codes import is_code
from towerhall_server.room.directory import PoisonedRoomError
from towerhall_server.room.history import page
from towerhall_server.room.inbox import Command, Join, Resync
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.seats import Person
from towerhall_server.room.view import view_class
from towerhall_server.telemetry.meters import CONNECTION_OBJECTS

logger = logging.getLogger(__name__)

NOBODY = Person("", "")
MOST_ERRANDS = 4
NEWS_SECONDS = 0.25  # so long after the last news of a room a crowd makes nobody read again
ORIGIN = re.compile(r"[A-Za-z0-9_-]{11}")


class Connection:
    """A viewer behind a socket."""

    __slots__ = (
        "_actor",
        "_address",
        "_code",
        "_errands",
        "_hall",
        "_hello_timer",
        "_outbox",
        "_session",
        "_socket",
        "_waiting",
        "alive",
        "claim",
        "origin",
        "person",
        "seat",
        "send",
        "unanswered",
    )

    def __init__(
        self, hall: Hall, socket: RoomSocket, code: str, address: str, *, text: bool
    ) -> None:
        self._hall, self._address = hall, address
        self._socket, self._code = socket, code
        self._session = Session(hall.limits, hall.codec, text=text)
        self._outbox = Outbox(socket, text, self._resync, self._too_slow)
        self.send = self._outbox.send
        self._actor: RoomActor | None = None
        self._errands: set[asyncio.Task[None]] = set()  # entering, history, chat
        loop = asyncio.get_running_loop()
        self._hello_timer: asyncio.TimerHandle | None = loop.call_later(
            hall.limits.hello_seconds, self._hello_late
        )
        self.person, self.origin = NOBODY, ""
        self.seat: Seat | None = None
        self.unanswered: set[int] = set()
        self._waiting: list[ClientCommand] = []
        """Commands that came faster than allowed: late is better than never."""
        self.claim, self.alive = 0, True

    # What the socket tells

    def received(self, data: bytes | str) -> None:
        intention = self._session.receive(data, monotonic(), self.unanswered)
        match intention:
            case ClientCommand():
                if self._actor is None:
                    self._tell(error("hello_expected"))
                else:
                    self.unanswered.add(intention.n)
                    self._pace(intention)
            case ClientHello(greeting):
                self._begin(self._enter(greeting))
            case ClientHistory(first, last):
                self._begin(self._history(first, last))
            case ClientChat(text):
                self._begin(self._chat(text))
            case ClientEmote(name):
                self._emote(name)
            case ClientPing(seq):
                stamps = self._hall.directory.node.clock.stamps(shard_of(self._code))
                self._tell(ServerPong(seq, stamps))
            case Tell(message):
                self._complain(message)
            case HangUp(reason, message):
                if message is not None:
                    self._complain(message)
                self.close(reason)

    def _pace(self, command: ClientCommand | None = None) -> None:
        """Pass commands on in their order, no faster than allowed."""
        if command is not None:
            self._waiting.append(command)
            if len(self._waiting) > 1:
                return
        while self._waiting and self._actor is not None and self.alive:
            wait_ms = self._session.wait_ms(monotonic())
            if wait_ms:
                asyncio.get_running_loop().call_later(wait_ms / 1000, self._pace)
                return
            asked = self._waiting.pop(0)
            if asked.body["command"] == "sit":
                self._hall.store.remember(self.person.id, self._code)
            self._actor.put(Command(self, asked))

    def writable(self) -> None:
        self._outbox.drained()

    def ended(self, reason: str) -> None:
        self._session.state = "over"
        self._hall.meters.closes[reason] += 1

    def lost(self) -> None:
        self.alive = False
        self._session.state = "over"
        if self._hello_timer is not None:
            self._hello_timer.cancel()
        for errand in self._errands:
            errand.cancel()
        if self._actor is not None:
            self._actor.leave(self)
        if self.person is not NOBODY:
            let_out(self._hall, self.person.id, self)
        self._hall.sockets_of_address.leave(self._address)
        self._hall.meters.left_behind += CONNECTION_OBJECTS
        self._outbox.close()

    # What the room tells

    @property
    def lags(self) -> bool:
        return self._outbox.state != "flowing"

    def close(self, reason: str) -> None:
        self._socket.end_as(reason)

    # Entering

    async def _enter(self, greeting: Greeting) -> None:
        """From a greeting to the room's inbox; every way of failing has its code."""
        limits = self._hall.limits
        if self._hello_timer is not None:
            self._hello_timer.cancel()
            self._hello_timer = None
        person = let_in(self._hall, greeting.level, greeting.token, self)
        if isinstance(person, Refusal):
            return self._refuse(person)
        self.person = person
        if not ORIGIN.fullmatch(greeting.origin):
            detail = "origin is 8 random bytes as base64url: 11 characters"
            return self._fail("bad_message", error("malformed_message", detail=detail))
        self.origin = greeting.origin
        if self._hall.directory.is_cut:
            return self._refuse(STORE_UNAVAILABLE)
        try:
            actor = await self._hall.directory.open(self._code) if is_code(self._code) else None
        except StoreError:
            return self._refuse(STORE_UNAVAILABLE)
        except PoisonedRoomError:
            return self._fail("server_fault", error("server_fault"))
        # The same answer for a room that is not there and for one that is none of their business.
        if actor is None or not admits(actor.follower.room.table, person.id, greeting.key):
            return self._fail("room_gone", error("room_gone"))
        watches = actor.follower.room.table.seat_of(person.id) is None
        if watches:
            actor.doubt(NEWS_SECONDS)  # a seat may be so new that this node has not heard of it
        else:
            self._hall.store.remember(person.id, self._code)
        if watches and actor.follower.audience.watchers >= limits.spectators_per_room:
            return self._refuse(busy())
        log = self._hall.directory.node.log
        try:
            self.claim, lines = await asyncio.gather(
                log.claim(self._code), log.said(self._code, BACKLOG)
            )
        except StoreError:
            return self._refuse(STORE_UNAVAILABLE)
        self._actor = actor
        actor.put(Join(self, greeting.cursor, tuple(map(message_of, lines))))
        return None

    def _fail(self, reason: str, message: ServerMessage) -> None:
        self._tell(message)
        self.close(reason)

    def _refuse(self, refusal: Refusal) -> None:
        self._fail(refusal.reason, refusal.message)

    def shut_out(self) -> None:
        """This person is banned, perhaps since just now."""
        self._refuse(BANNED)

    def _hello_late(self) -> None:
        self._hello_timer = None
        seconds = ceil(self._hall.limits.hello_seconds)
        self._fail("hello_late", error("hello_late", seconds=seconds))

    # Errands

    def _begin(self, errand: Coroutine[Any, Any, None]) -> None:
        if len(self._errands) >= MOST_ERRANDS:
            errand.close()
            self._tell(error("too_many", retry_ms=100))
            return
        task = asyncio.create_task(self._guarded(errand))
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    async def _guarded(self, errand: Coroutine[Any, Any, None]) -> None:
        try:
            await errand
        except StoreError:
            self._tell(error("store_unavailable"))
        except Exception:
            logger.exception("an errand of a connection to %s failed", self._code)
            self._fail("server_fault", error("server_fault"))

    async def _history(self, first: int, last: int) -> None:
        if self._actor is None:
            return self._tell(error("hello_expected"))
        top = self._actor.follower.replica.point.seq
        if not 1 <= first <= last or first > top:
            return self._tell(error("bad_range", last=top))
        name = view_class(self._actor.follower.room.rules, self.seat)
        node = self._hall.directory.node
        found = await page(node, self._code, name, first, min(last, top))
        self._tell(error("room_gone") if found is None else found)
        return None

    async def _chat(self, text: str) -> None:
        clean = clean_chat(text)
        if self._actor is None:
            self._tell(error("hello_expected"))
        elif clean is None:
            self._tell(error("bad_chat"))
        else:
            await say(self._hall.directory.node.log, self._code, self, clean)

    def _emote(self, name: str) -> None:
        if self._actor is None:
            return self._tell(error("hello_expected"))
        return make_emote(self._hall.directory.node.log, self._code, self, name)

    # The way out

    def _tell(self, message: ServerMessage) -> None:
        self.send(Prepared(message))

    def _complain(self, message: ServerError | ServerRejected) -> None:
        meters = self._hall.meters
        rejected = isinstance(message, ServerRejected)
        (meters.rejects if rejected else meters.bad_messages)[message.code] += 1
        self._tell(message)

    def _resync(self) -> None:
        if self._actor is not None:
            self._actor.put(Resync(self))

    def _too_slow(self) -> None:
        self._fail("too_slow", error("too_slow"))
