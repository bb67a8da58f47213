"""h11's parser with our own limits: a request that is too large is refused like a malformed one.

It keeps the reason of a refusal as `problem`. Nothing here writes, waits or closes.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import h11

from towerhall_server.access.rates import Limits
from towerhall_server.gateway.responses import MOST_BODY_BYTES, RefusedError

HEALTH: Final = frozenset((b"/healthz", b"/readyz"))
READ_ON_BYTES: Final = 1 << 20
"""Bytes read beyond the largest body. The endpoint answers the oversized body itself."""
MOST_PIECES: Final = 4096
"""Chunks and reads of one body. Each costs the same, however small it is."""
RETRY_MS: Final = 10_000

Event: TypeAlias = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


class RequestParser(h11.Connection):
    """The requests of one connection, one after the other."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(h11.SERVER, limits.header_bytes)
        self._limits = limits
        self._pieces = self._body_bytes = 0
        self.is_spare = False
        """Whether only health checks are accepted."""
        self.problem: RefusedError | None = None

    @property
    def has_begun(self) -> bool:
        """Whether a request has begun and is incomplete."""
        if self.their_state is h11.IDLE:
            return bool(self.trailing_data[0])
        return self.their_state is h11.SEND_BODY

    def next_event(self) -> Event:
        """Gaps: a head in one read may have any length, a body any number of pieces."""
        is_head = self.their_state is h11.IDLE
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            self.problem = self._problem_of(error, is_head=is_head)
            # Its traceback refers to its own frame: a reference cycle for each bad request.
            raise error.with_traceback(None)  # noqa: B904 - it is the same one
        if isinstance(event, h11.Request):
            self.problem = self._check(event)
        elif isinstance(event, h11.Data):
            self.problem = self._count(event)
        if self.problem is not None:
            raise h11.RemoteProtocolError(self.problem.code)
        return event

    def _check(self, request: h11.Request) -> RefusedError | None:
        self._pieces = self._body_bytes = 0
        path, limits = request.target, self._limits
        if len(path) > limits.path_bytes:
            return RefusedError("path_too_long", most=limits.path_bytes)
        if len(path) + size_of(request.headers) > limits.header_bytes:
            return RefusedError("headers_too_large", most=limits.header_bytes)
        if self.is_spare and path not in HEALTH:
            return RefusedError("server_full", retry_ms=RETRY_MS)
        return None

    def _count(self, piece: h11.Data) -> RefusedError | None:
        self._pieces += 1
        self._body_bytes += len(piece.data)
        if self._pieces > MOST_PIECES or self._body_bytes > READ_ON_BYTES:
            return RefusedError("message_too_large", most=MOST_BODY_BYTES)
        return None

    def _problem_of(self, error: h11.RemoteProtocolError, *, is_head: bool) -> RefusedError:
        """h11's texts may repeat what was sent, so they are not shown."""
        if error.error_status_hint != 431:
            return RefusedError("bad_request", detail="this is not an HTTP/1.1 request")
        if is_head and b"\n" not in self.trailing_data[0]:
            return RefusedError("path_too_long", most=self._limits.path_bytes)
        return RefusedError("headers_too_large", most=self._limits.header_bytes)


def size_of(headers: Sequence[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + len(b": \r\n") for name, value in headers)
