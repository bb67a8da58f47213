"""Closes a connection with a reason that the peer can read, in bounded time.

`EndingSocket` is uvicorn's WebSocket protocol without its gaps in closing. `socket` closes the
other gaps.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from towerhall_protocol.errors import CLOSES
from towerhall_server.gateway.ws.frame_faults import close_for, close_frame

HIGH_WATER, LOW_WATER = 64 * 1024, 16 * 1024
CLOSE_SECONDS = 3.0
"""Seconds that a peer has to read a close and to disconnect."""
MAX_REASON_BYTES = 123


class EndingSocket(WebSocketsSansIOProtocol):
    """The closing half of one WebSocket connection."""

    # Read for every frame: a slot is cheaper than the large dictionary of the base class.
    __slots__ = ("write_frame",)

    write_frame: Callable[[bytes], None]
    """Write one whole data frame. Does nothing once the connection is closing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.close_timeout = CLOSE_SECONDS
        self.write_frame = drop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.write_frame = self.transport.write

    def connection_lost(self, exc: Exception | None) -> None:
        """Gap: the parser keeps exceptions whose tracebacks refer to the parser. Such cycles would
        wait for a full collection."""
        self.write_frame = drop
        super().connection_lost(exc)
        for kept in (self.conn.parser_exc, self.conn.handshake_exc):
            if kept is not None:
                kept.__traceback__ = None

    def cut(self) -> None:
        """Drop the connection without a close, as a network that fails does."""
        self.write_frame = drop
        self.transport.abort()

    def hold(self) -> bool:
        """Stop reading until `release`. Returns False if nothing was being read."""
        if self.read_paused or self.close_sent or self.transport.is_closing():
            return False
        self.read_paused = True
        self.transport.pause_reading()
        return True

    def release(self) -> None:
        """Read on, if this connection is still there."""
        if not self.transport.is_closing():
            self._resume_reading()

    def backlog(self) -> int:
        """Bytes in the write buffer."""
        return self.transport.get_write_buffer_size()

    def end(self, code: int, reason: str) -> bool:
        """Close the connection and ignore all input. A peer with a full buffer is cut off at once,
        others after a timeout. Idempotent. Returns whether this call closed it."""
        if self.close_sent or self.transport.is_closing():
            return False
        self.conn.fail(code, reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore"))
        self.handle_parser_exception()
        return True

    def end_as(self, name: str) -> None:
        """Close for a reason of the protocol, and tell the listener."""
        if self.end(CLOSES[name].code, name):
            self.told_end(name)

    def told_end(self, name: str) -> None:
        """The connection was closed for that reason, by either side."""

    def handle_close(self, event: Frame) -> None:
        """Gap: frames sent between close and disconnect would follow the close frame."""
        self.write_frame = drop
        super().handle_close(event)

    def handle_parser_exception(self) -> None:
        """Gaps: closing while the peer still sends makes the kernel reset the connection, so the
        peer may never read the reason. A peer that does not read blocks the close forever. The
        library's texts for frame errors are not those of the protocol."""
        self.close_sent = True
        self.write_frame = drop
        problem = self.conn.parser_exc
        if problem is not None and self.handshake_complete:
            self.told_end(close_for(problem))
        if self.backlog() > HIGH_WATER or not self.handshake_complete:
            self.transport.abort()
            return
        last = b"".join(self.conn.data_to_send())
        self.transport.write(close_frame(close_for(problem)) if problem is not None else last)
        try:
            self.transport.write_eof()
            self._resume_reading()  # to see the peer disconnect
        except (NotImplementedError, OSError):  # TLS has no half-closing; the peer may be gone
            self.transport.close()
        self._abort_soon()

    def eof_received(self) -> None:
        """Gap: a peer that closed its side and does not read is awaited forever."""
        self.write_frame = drop  # the closing transport would still take data
        self._abort_soon()

    def keepalive_timeout(self) -> None:
        """Gap: a peer that misses its ping is closed, but awaited until it reads the close."""
        self.end_as("server_fault")

    def shutdown(self) -> None:
        """Gaps: one peer that does not read keeps the server from stopping. A peer that closed a
        moment ago makes this raise."""
        if self.handshake_complete:
            self.end_as("restart")
        else:
            super().shutdown()
        self._abort_soon()

    def _resume_reading(self) -> None:
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()

    def _abort_soon(self) -> None:
        if self.disconnected:
            return
        if self.close_timer is not None:
            self.close_timer.cancel()
        self.close_timer = self.loop.call_later(CLOSE_SECONDS, self.transport.abort)


def drop(frame: bytes) -> None:
    """Drops input that arrives after the close."""
