"""How a connection ends: for a reason that the peer can read, and in a bounded time.

`EndingSocket` is uvicorn's WebSocket protocol with those gaps closed that are about its end; the
others are closed in `socket`.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from towerhall_protocol.errors import CLOSES
from towerhall_server.gateway.frame_faults import close_for, close_frame

HIGH_WATER, LOW_WATER = 64 * 1024, 16 * 1024
CLOSE_SECONDS = 3.0
"""How long a peer may take to read a close and to leave."""
MAX_REASON_BYTES = 123


class EndingSocket(WebSocketsSansIOProtocol):
    """One WebSocket connection, as far as its end."""

    # Every frame asks for it: apart from the large dictionary of the base class it costs less.
    __slots__ = ("write_frame",)

    write_frame: Callable[[bytes], None]
    """Write one whole data frame; from the moment on in which the connection ends, nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.close_timeout = CLOSE_SECONDS
        self.write_frame = drop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.write_frame = self.transport.write

    def connection_lost(self, exc: Exception | None) -> None:
        self.write_frame = drop
        super().connection_lost(exc)

    def backlog(self) -> int:
        """Bytes that wait for the peer to read."""
        return self.transport.get_write_buffer_size()

    def end(self, code: int, reason: str) -> bool:
        """Close the connection and hear no more. A peer with much to read before that is cut off
        at once, one that does not leave after it a little later. To end again does nothing.
        Whether this was what ended it."""
        if self.close_sent or self.transport.is_closing():
            return False
        self.conn.fail(code, reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore"))
        self.handle_parser_exception()
        return True

    def end_as(self, name: str) -> None:
        """The same for a reason that the protocol names, which the listener is told."""
        if self.end(CLOSES[name].code, name):
            self.told_end(name)

    def told_end(self, name: str) -> None:
        """The connection was ended for that reason, on this side or by what the peer did."""

    def handle_close(self, event: Frame) -> None:
        """Gap: what is sent until the connection is lost would go out behind the last frame."""
        self.write_frame = drop
        super().handle_close(event)

    def handle_parser_exception(self) -> None:
        """Gap: closing while the peer still sends makes the kernel reset the connection, so that
        the peer may never read why. And if the peer does not read, closing never ends. Besides,
        what is wrong with a frame is said in the words of the library."""
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
            self._resume_reading()  # to see the peer leave
        except (NotImplementedError, OSError):  # TLS has no half-closing; the peer may be gone
            self.transport.close()
        self._abort_soon()

    def eof_received(self) -> None:
        """Gap: a peer that ended its side, and does not read, is waited for without end."""
        self.write_frame = drop  # the transport closes, but would still take what comes
        self._abort_soon()

    def keepalive_timeout(self) -> None:
        """Gap: a peer that misses its ping is closed, but is waited for until it has read that."""
        self.end_as("server_fault")

    def shutdown(self) -> None:
        """Gaps: one peer that does not read keeps the server from stopping, and one that closed by
        itself a moment ago makes this raise."""
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
    """What comes too late is not for anybody any more."""
