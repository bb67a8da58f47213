"""uvicorn's HTTP protocol without its gaps: idle or greedy connections do not last.

uvicorn is given `http=request_sockets(...)`. Every connection begins as one of these; a WebSocket
upgrade continues as a `RoomSocket`. A request must be complete within a timeout, however its bytes
are spread, and its answer must be read. `arrivals` bounds the number of connections,
`request_parser` the size of requests, and `routes` answers them. A refusal has the same form as all
others (P-111), where an answer is possible.

Each override names the gap that it closes. `tests/gateway/ws/test_request_contract.py` pins the
parts of uvicorn and h11 that they rely on.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from math import ceil
from typing import Any, ClassVar, Final, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from towerhall_server.access.arrivals import Arrival, Arrivals
from towerhall_server.access.rates import Limits
from towerhall_server.gateway.responses import RefusedError, refusal
from towerhall_server.gateway.ws.closing import HIGH_WATER, LOW_WATER
from towerhall_server.gateway.ws.complaints import Complaints
from towerhall_server.gateway.ws.request_parser import RETRY_MS, RequestParser
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.telemetry.http_counts import ELSEWHERE
from towerhall_server.telemetry.meters import Meters

IDLE_SECONDS: Final = 5
"""Seconds that an idle connection is kept. Proxies keep theirs for less."""
SPARE_SECONDS: Final = 1.0
"""Seconds for a request on a spare connection, which exists for health checks."""
LEAVE_SECONDS: Final = 2.0
"""Seconds that a refused peer has to read the reason."""
LATE_BYTES: Final = 1 << 20
"""Bytes that a refused peer may still send: they are read and dropped."""
TAKEN_BYTES: Final = 16_384
"""Bytes of an answer that a peer must read per request timeout."""

faults = logging.getLogger("uvicorn.error.faults")
# uvicorn warns of each malformed request, without a rate limit and without an address.
faults.setLevel(logging.ERROR)


class Timer:
    """At most one pending timer."""

    __slots__ = ("_handle", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    def start(self, seconds: float, call: Callable[[], None]) -> None:
        """Replace the pending timer."""
        self.stop()
        self._handle = self._loop.call_later(seconds, self._ring, call)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    @property
    def is_running(self) -> bool:
        return self._handle is not None

    def _ring(self, call: Callable[[], None]) -> None:
        self._handle = None
        call()


class RequestSocket(H11Protocol):
    """One connection, until it ends or becomes a WebSocket."""

    arrivals: ClassVar[Arrivals]
    complaints: ClassVar[Complaints]
    limits: ClassVar[Limits]
    meters: ClassVar[Meters]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = faults
        self.conn = self.parser = RequestParser(self.limits)
        self._arrival: Arrival | None = None
        self._deadline, self._taking = Timer(self.loop), Timer(self.loop)
        self._is_over = False
        self._late_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Gap: connections are accepted without limit, and wait for a request forever."""
        super().connection_made(cast(asyncio.Transport, transport))
        self.transport.set_write_buffer_limits(high=HIGH_WATER, low=LOW_WATER)
        self._arrival = self.arrivals.enter(self._address)
        if self._arrival is None:
            self._refuse("too_many", retry_ms=RETRY_MS)
            self.transport.close()  # at once: waiting for the peer would count as accepting it
            return
        self.parser.is_spare = self._arrival.is_spare
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Gaps: a request that never completes is read forever, and so is a refused one."""
        if self._is_over:
            self._late_bytes += len(data)
            if self._late_bytes > LATE_BYTES:
                self.transport.abort()
            return
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Gap: a peer that does not read the answer keeps its connection."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._see_off()
        else:
            self._look()

    def _look(self) -> None:
        """Start or stop the timeout of a request."""
        if self._is_over:
            return
        if self.parser.is_spare and (cycle := self._answering) is not None:
            cycle.keep_alive = False
        if not self.parser.has_begun:
            self._deadline.stop()
        elif not self._deadline.is_running:
            self._begin()

    def _begin(self) -> None:
        seconds = SPARE_SECONDS if self.parser.is_spare else self.limits.request_seconds
        self._deadline.start(seconds, self._request_late)

    def _request_late(self) -> None:
        if self.parser.has_begun:
            self._refuse("request_late", seconds=ceil(self.limits.request_seconds))
        else:
            self._hang_up()

    def send_400_response(self, msg: str) -> None:
        """Gap: the library answers all malformed requests with the same plain text."""
        problem = self.parser.problem or RefusedError("bad_request", detail=msg)
        self._refuse(problem.code, **problem.params)

    def _refuse(self, code: str, **params: int | str) -> None:
        """Answer with an error if no other answer has begun, then close."""
        self.complaints.tell(code, self._address)
        response = refusal(code, params)
        self.meters.http["other", ELSEWHERE, response.status_code] += 1
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            status = HTTPStatus(response.status_code)
            lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), b"connection: close"]
            headers = (*self.server_state.default_headers, *response.raw_headers)
            lines += [name + b": " + value for name, value in headers]
            self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))
        self._hang_up()

    def _hang_up(self) -> None:
        """Close so that the peer can read the answer: closing while it still sends makes the kernel
        reset the connection."""
        self._is_over = True
        self._deadline.stop()
        self._unset_keepalive_if_required()
        if (cycle := self._answering) is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        self.flow.resume_reading()
        self._taking.start(LEAVE_SECONDS, self.transport.abort)
        try:
            self.transport.write_eof()
        except (NotImplementedError, OSError):  # TLS has no half-closing; the peer may be gone
            self.transport.close()

    def pause_writing(self) -> None:
        """Gap: a peer that does not read is awaited forever."""
        super().pause_writing()
        self._see_off()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not (self._is_over or self.transport.is_closing()):
            self._taking.stop()

    def _see_off(self) -> None:
        """Require that the peer reads at a minimum rate."""
        left = self.transport.get_write_buffer_size()
        if left and not self._taking.is_running:
            self._taking.start(self.limits.request_seconds, partial(self._is_it_taken, left))

    def _is_it_taken(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() < TAKEN_BYTES:
            self.transport.abort()
        else:
            self._see_off()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._see_off()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Gap: a connection that becomes a WebSocket is no longer counted."""
        self._is_over = True
        self._deadline.stop()
        super().handle_websocket_upgrade(event)
        arrival, self._arrival = self._arrival, None
        if arrival is not None:
            socket = cast(RoomSocket, self.transport.get_protocol())
            socket.ended.add_done_callback(partial(_leave, self.arrivals, arrival))

    def shutdown(self) -> None:
        """Gaps: this raises for a closing connection, and waits for a peer that does not read."""
        if self._is_over:
            self.transport.abort()
        else:
            super().shutdown()
            self._see_off()

    def connection_lost(self, exc: Exception | None) -> None:
        """Gap: after a reset, a timer keeps the connection in memory."""
        super().connection_lost(exc)
        self._is_over = True
        self._unset_keepalive_if_required()
        self._deadline.stop()
        self._taking.stop()
        if self._arrival is not None:
            self.arrivals.leave(self._arrival)
            self._arrival = None

    @property
    def _answering(self) -> RequestResponseCycle | None:
        """The request under way."""
        cycle = cast(RequestResponseCycle | None, self.cycle)
        return None if cycle is None or cycle.response_complete else cycle

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""


def request_sockets(arrivals: Arrivals, limits: Limits, meters: Meters) -> type[RequestSocket]:
    """Make a class of such connections for one server: uvicorn creates the instances."""
    shared = {
        "arrivals": arrivals,
        "complaints": Complaints(),
        "limits": limits,
        "meters": meters,
    }
    return type("ServedSocket", (RequestSocket,), shared)


def _leave(arrivals: Arrivals, arrival: Arrival, _: object) -> None:
    arrivals.leave(arrival)
