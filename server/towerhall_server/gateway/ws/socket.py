"""uvicorn's WebSocket protocol without its gaps, and a direct path for rooms.

uvicorn is given `ws=RoomSocket`. Every connection is one of these, and an endpoint finds its own
with `socket_of(scope)`. Once a listener is attached, a message costs one call instead of a queue
and a task, and an encoded frame costs one write.

Each override names the gap that it closes. `tests/gateway/ws/test_socket_contract.py` pins the
parts of uvicorn that they rely on. `closing` ends connections, uvicorn's `ws_max_size` bounds
messages, `outbox` bounds the write buffer, and `session` interprets messages.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, cast

from uvicorn._types import ASGIReceiveEvent
from uvicorn.protocols.utils import ClientDisconnected
from websockets.frames import Frame, apply_mask  # type: ignore[attr-defined]

from towerhall_server.access.rates import Bucket
from towerhall_server.gateway.ws.closing import HIGH_WATER, LOW_WATER, EndingSocket
from towerhall_server.gateway.ws.listener import Listener
from towerhall_server.gateway.ws.no_queue import NO_EVENT, NO_QUEUE

SEND_BUFFER = 64 * 1024
"""Bytes of the kernel's send buffer. By default it grows to megabytes for a slow peer."""
LATE_BYTES = 1 << 20
"""Bytes that a peer may still send after a close: they are read and dropped."""
SLICE = 4096
"""Bytes parsed at a time, before the limits are checked."""
MAX_FRAGMENTS, MAX_EARLY_MESSAGES = 16, 32
CONTROLS_PER_SECOND, CONTROLS_AT_ONCE = 10, 20

EXTENSION = "towerhall.socket"
logger = logging.getLogger(__name__)

_KINDS: dict[int, Literal["text", "bytes"]] = {0x81: "text", 0x82: "bytes"}
"""First byte of a final frame without extensions."""
SMALL_BYTES = 1024
"""Payload bytes of a small message. Larger frames use the library parser, and may break limits."""
_MASKED = 0x80
_IN_16_BITS, _IN_64_BITS = 126, 127
_MASK_BYTES = 4
_HEAD_BYTES = 2 + _MASK_BYTES
"""Bytes of the header of a frame whose length fits into its second byte."""

Small = tuple[Literal["text", "bytes"], bytes]


class RoomSocket(EndingSocket):
    """One WebSocket connection."""

    __slots__ = ("_aligned", "_listener", "full")

    full: bool
    """Whether the write buffer went above high water, and not below low water since."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Gap: permessage-deflate is on by default, and lets a small message become a huge one.
        self.conn.available_extensions = None
        self.ended: asyncio.Future[None] = self.loop.create_future()  # set when it is over
        self.full = False
        self._aligned = True  # every read so far ended at the end of a frame
        self._listener: Listener | None = None
        self._controls = Bucket(CONTROLS_PER_SECOND, CONTROLS_AT_ONCE)
        self._late_bytes, self._ended_as = 0, ""  # why, if it ended before `attach`

    def attach(self, listener: Listener) -> None:
        """Send all input to `listener`, beginning with the messages that have arrived already. Call
        once, after `accept`. The endpoint may return at once: the connection lives on without a
        task and without the state of the handshake."""
        if self.queue is NO_QUEUE or not (self.handshake_complete or self.transport.is_closing()):
            raise RuntimeError("a listener is attached once, and after accept")
        early, self.queue, self.writable = self.queue, NO_QUEUE, NO_EVENT
        # The parser refers to the request for its whole life; the headers are the large part.
        self.request.headers.clear()
        del self.request, self.response
        self.__dict__ = dict(self.__dict__)  # it does not shrink by itself
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
        """Gap: with default buffers, megabytes pile up for a peer before a limit acts."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(high=HIGH_WATER, low=LOW_WATER)
        wire = transport.get_extra_info("socket")  # all loops set TCP_NODELAY
        with suppress(OSError):  # the peer may be gone
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)

    def data_received(self, data: bytes) -> None:
        """Gaps: a whole read is parsed before any limit acts, a malformed request gets no answer,
        and frames are accepted (and answered) before the handshake."""
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
        if not self.handshake_initiated:  # uvicorn hands requests over whole; this is a safeguard
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
        """Gap: every ping is answered, even if the peer floods or does not read."""
        if self._is_flood() or self.backlog() > LOW_WATER:
            self.conn.data_to_send()  # dropped: RFC 6455, 5.5.3 asks for the latest pong only
        elif not self.conn.eof_sent:  # else the pong leaves with the close frame behind it
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Gap: unsolicited pongs are accepted without limit."""
        if not self._is_flood():
            super().handle_pong(event)

    def send_receive_event_to_app(self) -> None:
        """Gaps: bad UTF-8 floods the log with tracebacks, and all messages of one read are queued,
        however many."""
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
        """Gaps: a failing endpoint leaves its peer without a close, and a peer that does not read
        is awaited forever. Attached connections also outlive their endpoint."""
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
        """Count a ping or pong. Returns whether it exceeds the limit, which closes the
        connection."""
        if is_flood := self._controls.take(self.loop.time()) > 0:
            self.end_as("too_many")
        return is_flood


def socket_of(scope: Mapping[str, Any]) -> RoomSocket:
    """The connection that an endpoint was called for."""
    return cast(RoomSocket, scope["extensions"][EXTENSION])


def small_messages(data: bytes) -> tuple[list[Small] | None, bool]:
    """Return the messages of a read that begins at a frame, if it holds nothing else; and whether
    it ends at the end of a frame.

    This is a fast parser for the common case: small, whole messages, alone in one read. All other
    frames (control frames, fragments, large, malformed or partial frames) go to the parser of the
    WebSocket library, which implements all of RFC 6455. Only lengths are read to track its
    position: once a read ends inside a frame, this parser is not used again.
    """
    at, end = 0, len(data)
    if _HEAD_BYTES <= end < _HEAD_BYTES + _IN_16_BITS and data[1] == _MASKED | end - _HEAD_BYTES:
        kind = _KINDS.get(data[0])
        if kind is not None:  # the common case
            return [(kind, apply_mask(data[_HEAD_BYTES:], data[2:_HEAD_BYTES]))], True
    messages: list[Small] | None = []
    while at < end:
        if at + 2 + _MASK_BYTES > end:
            return None, False
        length = data[at + 1] & ~_MASKED
        start = at + 2
        if length >= _IN_16_BITS:
            size = 2 if length == _IN_16_BITS else 8
            length = int.from_bytes(data[start : start + size])
            start += size
        if data[at + 1] & _MASKED:
            start += _MASK_BYTES
        else:
            messages = None  # the library will refuse it
        if start + length > end:
            return None, False
        kind = _KINDS.get(data[at])
        if kind is None or length > SMALL_BYTES:
            messages = None
        elif messages is not None:
            payload = data[start : start + length]
            messages.append((kind, apply_mask(payload, data[start - _MASK_BYTES : start])))
        at = start + length
    return messages, True
