"""uvicorn's WebSocket protocol with its gaps closed, and a short way in and out for rooms.

uvicorn is given `ws=RoomSocket`. Every connection is then one of these, and an endpoint finds its
own with `socket_of(scope)`. Once a listener is attached, a message costs one call instead of a
trip through a queue and a task, and a prepared frame costs one write.

Each override says which gap it closes; what they rely on in uvicorn is pinned by
`tests/gateway/test_socket_contract.py`. How a connection ends stands in `ending`, how large a
message may be is uvicorn's `ws_max_size`, how much may wait to be read is decided in `outbox`, and
what messages mean in `session`.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, cast

from uvicorn._types import ASGIReceiveEvent
from uvicorn.protocols.utils import ClientDisconnected
from websockets.frames import Frame

from towerhall_server.gateway.ending import HIGH_WATER, LOW_WATER, EndingSocket
from towerhall_server.gateway.limits import Bucket
from towerhall_server.gateway.listener import Listener
from towerhall_server.gateway.no_queue import NO_QUEUE
from towerhall_server.gateway.small_messages import small_messages

SEND_BUFFER = 64 * 1024
"""What the kernel may hold besides. Left alone it grows to megabytes for a peer that is slow."""
LATE_BYTES = 1 << 20
"""What a peer may still send after a close: what was under way is read and thrown away."""
SLICE = 4096
"""How much is parsed before anybody looks at what came of it."""
MAX_FRAGMENTS, MAX_EARLY_MESSAGES = 16, 32
CONTROLS_PER_SECOND, CONTROLS_AT_ONCE = 10, 20

EXTENSION = "towerhall.socket"
logger = logging.getLogger(__name__)


class RoomSocket(EndingSocket):
    """One WebSocket connection."""

    __slots__ = ("_aligned", "_listener", "full")

    full: bool
    """Whether the backlog was above high water, and not below low water since."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Gap: permessage-deflate is on by default, and lets a small message become a huge one.
        self.conn.available_extensions = None
        self.ended: asyncio.Future[None] = self.loop.create_future()  # done when all is over
        self.full = False
        self._aligned = True  # all that was read so far ended at the end of a frame
        self._listener: Listener | None = None
        self._controls = Bucket(CONTROLS_PER_SECOND, CONTROLS_AT_ONCE)
        self._late_bytes, self._ended_as = 0, ""  # why, if it was ended before anybody listened

    def attach(self, listener: Listener) -> None:
        """Tell `listener` everything from now on, beginning with the messages that have come
        already. To be called once, after `accept`. The endpoint may return at once: the connection
        stays, without a task of its own and without anything else that only the handshake needs."""
        if self.queue is NO_QUEUE or not (self.handshake_complete or self.transport.is_closing()):
            raise RuntimeError("a listener is attached once, and after accept")
        early, self.queue = self.queue, NO_QUEUE
        # The parser holds on to the request as long as it lives; its headers are the large part.
        self.request.headers.clear()
        del self.request, self.response
        self._listener = listener
        while not early.empty():
            event = early.get_nowait()
            if event["type"] == "websocket.receive" and not self.close_sent:
                text = event.get("text")
                self._tell(listener.received, event.get("bytes") if text is None else text)
        if self._ended_as:
            self._tell(listener.ended, self._ended_as)
        if self.disconnected:
            self._tell_lost()
        else:
            self._resume_reading()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Gap: with the default buffers megabytes pile up for a peer before anybody notices."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(high=HIGH_WATER, low=LOW_WATER)
        wire = transport.get_extra_info("socket")  # with TCP_NODELAY, as all loops set it
        with suppress(OSError):  # the peer may have gone already
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)

    def data_received(self, data: bytes) -> None:
        """Gaps: a whole read is parsed before any limit acts on it, a request that cannot be parsed
        gets no answer, and frames are taken (and answered) before the handshake is."""
        if self._aligned and self.handshake_complete:
            small, self._aligned = small_messages(data)
            if small is not None and not self.frames and not self.conn.eof_sent:
                for kind, message in small:
                    self._take(kind, message)
                return
        for start in range(0, len(data), SLICE):
            if self.conn.eof_sent:
                self._late_bytes += len(data) - start
                if self._late_bytes > LATE_BYTES:
                    self.transport.abort()
                break
            if self.handshake_initiated and not self.handshake_complete:
                self.transport.abort()
                break
            super().data_received(data[start : start + SLICE])
        if not self.handshake_initiated:  # though uvicorn hands requests over whole
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
        if self.transport.is_closing():
            self._abort_soon()

    def handle_cont(self, event: Frame) -> None:
        """Gap: the fragments of a message are limited in size but not in number."""
        if len(self.frames) < MAX_FRAGMENTS:
            super().handle_cont(event)
        else:
            self.end_as("message_too_large")

    def handle_ping(self) -> None:
        """Gap: every ping is answered, however many come and whether or not the peer reads."""
        if self._is_flood() or self.backlog() > LOW_WATER:
            self.conn.data_to_send()  # thrown away: RFC 6455, 5.5.3 asks for the latest pong only
        elif not self.conn.eof_sent:  # else the pong goes out with the close that came behind it
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Gap: pongs that nobody asked for are taken without end."""
        if not self._is_flood():
            super().handle_pong(event)

    def send_receive_event_to_app(self) -> None:
        """Gaps: bad UTF-8 fills the log with tracebacks, and the messages of one read are queued
        however many they are."""
        frames, self.frames = self.frames, []
        self._take(self.curr_msg_data_type, b"".join(frames))

    def _take(self, kind: Literal["text", "bytes"], data: bytes) -> None:
        if self.close_sent:
            return
        try:
            message = data.decode() if kind == "text" else data
        except UnicodeDecodeError:
            self.end_as("malformed_message")
            return
        if self._listener is not None:
            self._tell(self._listener.received, message)
        elif self.queue.qsize() >= MAX_EARLY_MESSAGES:
            self.end_as("too_many")
        else:
            event = {"type": "websocket.receive", kind: message}
            self.queue.put_nowait(cast(ASGIReceiveEvent, event))
            if not self.read_paused:
                self.read_paused = True
                self.transport.pause_reading()

    async def run_asgi(self) -> None:
        """Gaps: an endpoint that fails leaves its peer without a close, and a peer that does not
        read is waited for without end. Besides, attached connections outlive their endpoint."""
        cast(dict[str, Any], self.scope["extensions"])[EXTENSION] = self
        close = "done"
        try:
            await self.app(self.scope, self.receive, self.send)
        except ClientDisconnected:
            pass
        except (Exception, asyncio.CancelledError):
            logger.exception("an endpoint failed; its connection is closed")
            close = "server_fault"
        del self.scope
        if not self.handshake_complete:
            self.send_500_response()
            self.transport.close()
        elif self._listener is None or close == "server_fault":
            self.end_as(close)
        if self._listener is None:
            self._abort_soon()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.full = True

    def resume_writing(self) -> None:
        super().resume_writing()
        self.full = False
        if self._listener is not None and not self.close_sent:
            self._tell(self._listener.writable)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._tell_lost()
        if not self.ended.done():
            self.ended.set_result(None)

    def _tell(self, listen: Callable[..., None], *heard: object) -> None:
        try:
            listen(*heard)
        except Exception:
            logger.exception("a listener failed; its connection is closed")
            self.end_as("server_fault")

    def told_end(self, name: str) -> None:
        if self._listener is None:
            self._ended_as = name
        else:
            self._tell(self._listener.ended, name)

    def _tell_lost(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            self._tell(listener.lost)

    def _is_flood(self) -> bool:
        """Whether this is one ping or pong too many; if so, it was the last."""
        if is_flood := self._controls.take(self.loop.time()) > 0:
            self.end_as("too_many")
        return is_flood


def socket_of(scope: Mapping[str, Any]) -> RoomSocket:
    """The connection that an endpoint was called for."""
    return cast(RoomSocket, scope["extensions"][EXTENSION])
