"""One connection to one room: carries what a session intends to the room, and back.

It is a listener to its socket and a viewer to its room. The first message decides who it is; the
token is checked before the store is asked anything.
"""

import asyncio
import logging
import re
from collections.abc import Coroutine
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
    ServerPong,
)
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.game import Seat
from towerhall_server.gateway.door import STORE_UNAVAILABLE, busy
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.names import clean_chat
from towerhall_server.gateway.session import HangUp, Session, Tell, error
from towerhall_server.gateway.socket import RoomSocket
from towerhall_server.gateway.visit import Visit
from towerhall_server.lobby.mine import admits
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.chat import BACKLOG, make_emote, message_of, say
from towerhall_server.room.codes import is_code
from towerhall_server.room.directory import PoisonedRoomError
from towerhall_server.room.history import page
from towerhall_server.room.inbox import Command, Join, Resync
from towerhall_server.room.view import view_class

logger = logging.getLogger(__name__)

MOST_ERRANDS = 16
NEWS_SECONDS = 0.25  # so long after the last news of a room a crowd makes nobody read again
ORIGIN = re.compile(r"[A-Za-z0-9_-]{11}")


class Connection(Visit):
    """A viewer behind a socket."""

    __slots__ = (
        "_actor",
        "_code",
        "_errands",
        "_session",
        "_waiting",
        "alive",
        "claim",
        "origin",
        "seat",
        "unanswered",
    )

    _session: Session

    def __init__(
        self, hall: Hall, socket: RoomSocket, code: str, address: str, *, text: bool
    ) -> None:
        super().__init__(hall, socket, address, text=text)
        self._code = code
        self._session = Session(hall.limits, hall.codec, text=text)
        self._actor: RoomActor | None = None
        self._errands: set[asyncio.Task[None]] = set()  # entering, history, chat
        self.origin = ""
        self.seat: Seat | None = None
        self.unanswered: set[int] = set()
        self._waiting: list[ClientCommand] = []  # came too fast: late is better than never
        self.claim, self.alive = 0, True

    # What the socket tells

    def received(self, data: bytes | str) -> None:
        now = monotonic()
        match self._session.receive(data, now, self.unanswered):
            case ClientCommand() as asked:
                self._command(asked, now)
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
            case (Tell() | HangUp()) as problem:
                self._answer(problem)

    def _command(self, asked: ClientCommand, now: float) -> None:
        """Pass a command on; commands stay in their order, and are no faster than allowed."""
        if self._actor is None:
            return self._tell(error("hello_expected"))
        self.unanswered.add(asked.n)
        wait_ms = 0 if self._waiting else self._session.wait_ms(now)
        if self._waiting or wait_ms:
            self._waiting.append(asked)
            if wait_ms:  # it is the first
                asyncio.get_running_loop().call_later(wait_ms / 1000, self._go_on)
            return None
        if asked.body["command"] == "sit":
            self._hall.store.remember(self.person.id, self._code)
        return self._actor.put(Command(self, asked, now))

    def _go_on(self) -> None:
        """Some of those that wait may pass now; the others wait again."""
        waiting, self._waiting = self._waiting, []
        for asked in waiting if self.alive else ():
            self._command(asked, monotonic())

    def lost(self) -> None:
        self.alive = False
        for errand in self._errands:
            errand.cancel()
        if self._actor is not None:
            self._actor.leave(self)
        super().lost()

    # What the room tells

    @property
    def lags(self) -> bool:
        return self._outbox.state != "flowing"

    # Entering

    async def _enter(self, greeting: Greeting) -> None:
        """From a greeting to the room's inbox; every way of failing has its code."""
        limits = self._hall.limits
        if not self._introduce(greeting.level, greeting.token):
            return None
        person = self.person
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
            self._tell(error("hello_expected"))
        else:
            make_emote(self._hall.directory.node.log, self._code, self, name)

    def _resync(self) -> None:
        if self._actor is not None:
            self._actor.put(Resync(self))
