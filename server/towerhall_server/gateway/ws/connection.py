"""One connection to one room: carries commands from the session to the room, and frames back.

It is a listener of its socket and a viewer of its room. The first message names the person. The
token is checked before any store call.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from time import monotonic
from typing import Any, TypeAlias

from towerhall_protocol.level import OLDEST_LEVEL
from towerhall_protocol.messages import (
    ClientChat,
    ClientCommand,
    ClientEmote,
    ClientHello,
    ClientHistory,
    ClientPing,
    ClientSandbox,
    ClientSign,
    Greeting,
    ServerPong,
)
from towerhall_server.access.admission import BANNED
from towerhall_server.access.names import clean_chat
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.frames import Prepared
from towerhall_server.game import Seat
from towerhall_server.gateway.entering import room_for
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.ws.door import STORE_UNAVAILABLE, busy
from towerhall_server.gateway.ws.session import MOST_SHOWN, HangUp, Session, Tell, error
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.gateway.ws.visit import UNKNOWN, Visit
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.chat import BACKLOG, make_emote, message_of, say
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.live.fan_out import chain_of
from towerhall_server.live.history import page
from towerhall_server.live.items import Command, Join, Lose, Resync
from towerhall_server.live.replies import is_shown
from towerhall_server.lobby.my_rooms import admits
from towerhall_server.room.gate import silence
from towerhall_server.room.seats import guest_of
from towerhall_server.room.state import Room
from towerhall_server.room.table import Table
from towerhall_server.room.view import view_class
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

MOST_ERRANDS = 16
NEWS_SECONDS = 0.25  # seconds after the last entry in which a crowd causes no new read
ORIGIN = re.compile(r"[A-Za-z0-9_-]{11}")
Errand: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Starts a task. A coroutine object in its place would never be awaited if the client leaves before
the task's first step, and Python would log a warning."""


class RoomConnection(Visit):
    """A viewer behind a socket."""

    __slots__ = (
        "_actor",
        "_code",
        "_errands",
        "_session",
        "_waiting",
        "claim",
        "level",
        "origin",
        "person",
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
        self._errands: list[asyncio.Task[None]] = []  # entering, history, chat
        self.person = UNKNOWN
        self.origin, self.level = "", OLDEST_LEVEL
        self.seat: Seat | None = None
        self.unanswered: set[int] = set()
        self._waiting: list[ClientCommand] = []  # above the rate: delayed, not refused
        self.claim = 0

    # Calls of the socket

    def received(self, data: bytes | str) -> None:
        now = monotonic()
        match self._session.receive(data, now, self.unanswered, self._is_shown):
            case ClientCommand() as asked:
                self._command(asked, now)
            case ClientHello(greeting):
                self._begin(partial(self._enter, greeting))
            case ClientHistory(first, last):
                self._begin(partial(self._history, first, last))
            case ClientChat(text):
                self._chat(text, now)
            case ClientEmote(name):
                self._emote(name, now)
            case ClientSign():
                self._sign()
            case ClientSandbox() as asked:
                self._sandbox(asked)
            case ClientPing(seq):
                stamps = self._hall.directory.node.clock.stamps(shard_of(self._code))
                self._tell(ServerPong(seq, stamps))
            case (Tell() | HangUp()) as problem:
                self._answer(problem)

    def _is_shown(self, n: int) -> bool:
        """Whether that command is in the log. Every commit that the room knows has been sent
        here."""
        return self._actor is not None and is_shown(self._actor.follower.room, self, n)

    def _command(self, asked: ClientCommand, now: float) -> None:
        """Pass a command on, in order, and no faster than the rate allows."""
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
            self._hall.store.remember(self.owner.id, self._code)
        return self._actor.put(Command(self, asked, now))

    def _go_on(self) -> None:
        """Pass delayed commands on as the rate allows; delay the rest again."""
        waiting, self._waiting = self._waiting, []
        for asked in waiting if self.alive else ():
            self._command(asked, monotonic())

    def lost(self) -> None:
        for errand in tuple(self._errands):
            errand.cancel()
        if self._actor is not None:
            self._actor.leave(self)
        super().lost()

    # Calls of the room

    @property
    def alive(self) -> bool:
        """False as soon as either side has closed the connection: no answer would arrive."""
        return self._session.state != "over"

    @property
    def operator(self) -> str:
        return self._actor.follower.room.table.operator if self._actor is not None else ""

    @property
    def lags(self) -> bool:
        return self._outbox.state != "flowing"

    # Entering

    def answered(self, n: int) -> None:
        self.unanswered.discard(n)

    async def _enter(self, greeting: Greeting) -> None:
        """Take a greeting to the room's inbox. Every failure has its code."""
        limits, asked = self._hall.limits, monotonic()
        if not self._introduce(greeting.level, greeting.token):
            return None
        person = self.owner
        if not ORIGIN.fullmatch(greeting.origin):
            detail = "origin is 8 random bytes as base64url: 11 characters"
            return self._fail("bad_message", error("malformed_message", detail=detail))
        self.origin, self.level = greeting.origin, greeting.level
        if self._hall.directory.is_cut:
            return self._refuse(STORE_UNAVAILABLE)

        def may(room: Room) -> bool:
            return admits(room.table, guest_of(room, person).id, greeting.key)

        try:
            actor = await room_for(self._hall.directory, self._code, may, asked)
        except StoreError:
            return self._refuse(STORE_UNAVAILABLE)
        except PoisonedRoomError:
            return self._fail("server_fault", error("server_fault"))
        # One answer for a missing room and for a private one without access.
        if actor is None:
            return self._fail("room_gone", error("room_gone"))
        room = actor.follower.room
        self.person = guest_of(room, person)
        watches = room.table.seated.get(self.person.id) is None
        if watches:
            actor.doubt(NEWS_SECONDS)  # the seat may be newer than this node's copy
        else:
            self._hall.store.remember(person.id, self._code)
            if self._hall.pushes is not None:
                self._hall.pushes.store.visited(person.id, self._code)
        if watches and actor.follower.audience.presence.watchers >= limits.spectators_per_room:
            return self._refuse(busy())
        log = self._hall.directory.node.log
        try:
            self.claim, lines = await asyncio.gather(
                log.claim(self._code), log.said(self._code, BACKLOG)
            )
        except StoreError:
            return self._refuse(STORE_UNAVAILABLE)
        if self._hall.access.bans.bars(person.id, actor.follower.room.table.operator):
            return self.shut_out(BANNED)
        # From here on `access` knows the person's room, and applies later bans.
        self._actor = actor
        actor.put(Join(self, greeting.cursor, tuple(map(message_of, lines))))
        return None

    # Errands

    def _begin(self, errand: Errand, **about: str) -> None:
        """Start a task for slow work. `about` names the message in an error."""
        if len(self._errands) >= MOST_ERRANDS:
            self._tell(error("too_many", retry_ms=100, **about))
            return
        task = asyncio.create_task(self._guarded(errand, about))
        self._errands.append(task)
        task.add_done_callback(self._errands.remove)

    async def _guarded(self, errand: Errand, about: Mapping[str, str]) -> None:
        try:
            await errand()
        except StoreError:
            self._tell(error("store_unavailable", **about))
        except Exception:
            logger.exception("a task of a connection to %s failed", self._code)
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

    def _sign(self) -> None:
        """Sign the room's current place."""
        if self._actor is None:
            return self._tell(error("hello_expected"))
        follower = self._actor.follower
        place = follower.replica.point
        signed = chain_of(follower.room.table, place.seq, place.chain, follower.node.sign)
        self._tell(signed if signed.signature else error("not_signed"))
        return None

    # Sandbox

    def _sandbox(self, asked: ClientSandbox) -> None:
        """Treat this viewer, or the room's log, as badly as asked (P-191)."""
        if self._actor is None:
            return self._tell(error("hello_expected"))
        table = self._actor.follower.room.table
        if not self._hall.sandbox or not table.settings.sandbox:
            return self._tell(error("no_sandbox"))
        match asked.act:
            case "drop":
                self._socket.cut()
            case "pause":
                self._be_silent(asked.number)
            case "lose" if table.status == "over":
                self._tell(error("already_over"))
            case "lose":
                self._actor.put(Lose(asked.number))
        return None

    def _be_silent(self, ms: int) -> None:
        """Neither read nor send for a while; then send what has come up."""
        if not self._socket.hold():
            return
        held: list[tuple[Prepared, ...]] = []

        def keep(message: Prepared, *more: Prepared) -> None:
            held.append((message, *more))

        def speak() -> None:
            self.send = self._outbox.send
            for message, *more in held:
                self.send(message, *more)
            self._socket.release()

        self.send = keep

        asyncio.get_running_loop().call_later(ms / 1000, speak)

    # Chat

    def _chat(self, text: str, now: float) -> None:
        about = {"text": text[:MOST_SHOWN]}
        table = self._table_to_speak_at(now, about)
        if table is None:
            return
        clean = clean_chat(text)
        if clean is None:
            self._tell(error("bad_chat", **about))
        else:
            self._begin(partial(self._say, table, clean, about), **about)

    async def _say(self, table: Table, text: str, about: Mapping[str, str]) -> None:
        if not await self._hall.regulars.may_chat(self.owner.id):
            return self._tell(error("chat_off", **about))
        return await say(self._hall.directory.node.log, table, self, text)

    def _emote(self, name: str, now: float) -> None:
        table = self._table_to_speak_at(now, {"emote": name})
        if table is not None:
            make_emote(self._hall.directory.node.log, table, self, name)

    def _table_to_speak_at(self, now: float, about: Mapping[str, str]) -> Table | None:
        """Return the room's table if this person may chat now. Otherwise send the refusal and
        return None."""
        table = None if self._actor is None else self._actor.follower.room.table
        code = "hello_expected" if table is None else silence(table, self.person.id)
        if code:
            self._tell(error(code, **about))
            return None
        rates, watches = self._hall.chat_rates, self.seat is None
        wait_ms = rates.take(self._code, self.person.id, now, watches=watches)
        if wait_ms:
            self._tell(error("too_many", retry_ms=wait_ms, **about))
        return None if wait_ms else table

    def _resync(self) -> None:
        if self._actor is not None:
            self._actor.put(Resync(self))
