"""A line to a room that is kept up: connect, greet, listen; after a break, connect again.

Incoming messages go to the client core, and its updates to the listener; what is posted goes
out in order. The line owns the socket and nothing else: all that must survive a break is in the
`Replay`, and what is posted while there is no welcome is not kept here: commands are sent again
from the replay, everything else is asked for anew.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias
from urllib.parse import quote

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from towerhall_client.retry import Retry
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
from towerhall_protocol import codec
from towerhall_protocol import updates as u
from towerhall_protocol.level import MSGPACK
from towerhall_protocol.messages import ClientCommand, ClientMessage, ServerMessage
from towerhall_protocol.replay import Replay
from towerhall_protocol.wire import read_server

logger = logging.getLogger(__name__)

WELCOME_SECONDS = 15.0


class Address(msgspec.Struct, frozen=True):
    """Which room, and as whom."""

    url: str
    code: str
    token: str
    key: str = ""
    subprotocol: str = MSGPACK

    @property
    def socket_url(self) -> str:
        return socket_url(self.url, f"/v1/rooms/{quote(self.code, safe='')}")


class Disconnected(msgspec.Struct, frozen=True):
    """The line broke, and is tried again after a while."""

    reason: str
    retry_seconds: float


Update: TypeAlias = u.Update | Disconnected


class Line:
    """One client's line to one room."""

    def __init__(
        self,
        address: Address,
        replay: Replay,
        tell: Callable[[Update], None],
        retry: Retry,
        ping_seconds: float,
    ) -> None:
        self._address = address
        self._replay = replay
        self._tell = tell
        self._ping_seconds = ping_seconds
        self._way_back = WayBack(retry)
        self._outgoing: deque[ClientMessage] = deque()
        self._posted = asyncio.Event()
        self._error: u.ErrorCame | None = None
        self.up = False
        """Whether the room has welcomed us on a connection that still stands."""
        self.entered = False
        """Whether it ever has."""

    def post(self, message: ClientMessage) -> None:
        """Send it on this connection, after what was posted before. Lost if there is none.

        What cannot be encoded may not come here (see `sendable`): the whole line would fail.
        """
        if self.up:
            self._outgoing.append(message)
            self._posted.set()

    async def keep(self) -> None:
        """Keep the line up until cancelled; `TableClosedError` when it may not be any more."""
        while True:
            end = await self._one_connection()
            tell = partial(self._broke, end.code)
            await self._way_back.after(end, tell, entered=self.entered)

    def _broke(self, reason: str, seconds: float) -> None:
        logger.info("room %s: %s, again in %.1f s", self._address.code, reason, seconds)
        self._tell(Disconnected(reason, seconds))

    async def _one_connection(self) -> Break:
        self._error = None
        return await one_connection(self._address.socket_url, self._address.subprotocol, self._talk)

    async def _talk(self, socket: ClientConnection) -> Break:
        self._outgoing.clear()
        helpers = (self._write(socket), self._ping(), self._way_back.leave(socket))
        return await accompanied(self._listen(socket), *helpers)

    async def _listen(self, socket: ClientConnection) -> Break:
        hello = self._replay.hello(self._address.token, self._address.key)
        try:
            await socket.send(self._packed(hello))
            while True:
                async with asyncio.timeout(None if self.up else WELCOME_SECONDS):
                    data = await socket.recv()
                fault = self._take(data)
                if fault is not None:
                    return Break("server_fault", fault, True)
        except codec.CodecError as error:
            return Break("server_fault", f"the server sent nonsense: {error}", True)
        except ConnectionClosed as closed:
            return self._end(closed)
        except asyncio.CancelledError:
            # Leaving is no fault, which is what the socket would otherwise make of it.
            await socket.close()
            raise
        finally:
            self.up = False

    def _take(self, data: str | bytes) -> str | None:
        """One message; the reason if it was a fault."""
        self._error = None
        message = self._unpacked(data)
        updates = () if message is None else self._replay.receive(message)
        for update in updates:
            match update:
                case u.Synced() | u.Reset():
                    self.up = self.entered = True
                    others = [each for each in self._outgoing if type(each) is not ClientCommand]
                    self._outgoing = deque((*self._replay.resend(), *others))
                    self._posted.set()
                case u.PongCame():
                    self._way_back.lasted()
                case u.ErrorCame():
                    self._error = update
                case u.MustGo(within_ms):
                    self._way_back.go(within_ms)
                case u.Faulted(reason):
                    return reason
            self._tell(update)
        self._mind_what_waits()
        opening = self._replay.opening()
        if opening is not None:
            self.post(opening)
        return None

    def _mind_what_waits(self) -> None:
        """Keep back what the server would turn away, and send it when it may go (P-44)."""
        if waits := self._replay.waits:
            kept = [e for e in self._outgoing if not (type(e) is ClientCommand and e.n in waits)]
            self._outgoing = deque(kept)
        for command in self._replay.postponed():
            self.post(command)

    async def _write(self, socket: ClientConnection) -> None:
        # The listener learns of a close as well, after all earlier messages.
        with suppress(ConnectionClosed):
            while True:
                await self._posted.wait()
                while self._outgoing:
                    await socket.send(self._packed(self._outgoing.popleft()))
                self._posted.clear()

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(self._ping_seconds)
            self.post(self._replay.ping())

    def _end(self, closed: ConnectionClosed) -> Break:
        error = self._error
        return end_of(closed, None if error is None else (error.code, error.hint, error.params))

    def _packed(self, message: ClientMessage) -> str | bytes:
        return packed(message, self._address.subprotocol)

    def _unpacked(self, data: str | bytes) -> ServerMessage | None:
        return read_server(unpacked(data, self._address.subprotocol))

    async def close(self) -> None:
        """Forget a departure that was planned."""
        await self._way_back.close()
