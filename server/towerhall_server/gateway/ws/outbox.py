"""Bounds the bytes that wait for one connection, and resynchronises a reader that falls behind.

A message that does not fit starts a *lag*: all messages are dropped until the reader has drained
the buffer. Then the reader is resynchronised by one `reset`, whose view replaces all dropped
messages. A reader that lags again soon, or that never drains, is too slow and is closed.

    flowing ──does not fit──▶ lagging ──drained──▶ resyncing ──reset──▶ flowing
       └──does not fit, soon after a reset──▶ given up ◀──too long──┘

Bytes belong to the socket; the room makes the content of a `reset`.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Literal, Protocol

from towerhall_protocol.lobby import LobbyReset
from towerhall_protocol.messages import ServerReset
from towerhall_server.frames import Prepared
from towerhall_server.gateway.ws.closing import HIGH_WATER

LIMIT_BYTES = 256 * 1024
LAG_SECONDS = 20.0
"""Seconds from the first dropped message to the `reset`; after that the reader is too slow."""
RESETS = (ServerReset, LobbyReset)
"""The message that replaces all dropped ones."""
RELAPSE_SECONDS = 30.0
"""Seconds after a `reset` in which a second lag means too slow."""


class FrameSink(Protocol):
    """The socket as an outbox needs it."""

    @property
    def full(self) -> bool:
        """Whether the write buffer went above high water, and not below low water since."""
        ...

    def backlog(self) -> int: ...
    def write_frame(self, frame: bytes) -> None: ...


class Cancellable(Protocol):
    """A timer that can be cancelled."""

    def cancel(self) -> None: ...


class Timers(Protocol):
    """The event loop as an outbox needs it."""

    def time(self) -> float: ...
    def call_later(self, delay: float, callback: Callable[[], Any], /) -> Cancellable: ...


class Outbox:
    """The single way to send to one connection."""

    __slots__ = (
        "_lag_timer",
        "_limit_bytes",
        "_relapse_until",
        "_resync",
        "_socket",
        "_text",
        "_timers",
        "_too_slow",
        "state",
    )

    def __init__(
        self,
        socket: FrameSink,
        text: bool,
        resync: Callable[[], None],
        too_slow: Callable[[], None],
        limit_bytes: int = LIMIT_BYTES,
        timers: Timers | None = None,
    ) -> None:
        """`resync` requests a `reset`, now or soon. `too_slow` must close the connection; it may be
        called while a message is being sent."""
        if limit_bytes < HIGH_WATER:
            raise ValueError(f"the limit is {limit_bytes}, less than {HIGH_WATER}")
        self._socket = socket
        self._text = text
        self._resync = resync
        self._too_slow = too_slow
        self._limit_bytes = limit_bytes
        self._timers: Timers = asyncio.get_running_loop() if timers is None else timers
        self._lag_timer: Cancellable | None = None
        self._relapse_until = 0.0
        self.state: Literal["flowing", "lagging", "resyncing", "given up"] = "flowing"

    def send(self, message: Prepared, *more: Prepared) -> None:
        """Write the messages together, or drop them if the reader lags."""
        if self.state != "flowing":
            if self.state != "resyncing" or not isinstance(message.message, RESETS):
                return
            self._recover()
        frame = message.text() if self._text else message.binary
        if more:
            frame += b"".join([each.text() if self._text else each.binary for each in more])
        socket = self._socket
        if socket.full and self._is_too_much(len(frame)):
            self._lag()
        else:
            socket.write_frame(frame)

    def drained(self) -> None:
        """The write buffer has drained after it was above high water."""
        if self.state == "lagging":
            self.state = "resyncing"
            self._resync()

    def close(self) -> None:
        """The connection is over: send nothing and call nothing from now on."""
        self.state = "given up"
        self._stop_timer()
        # The callbacks refer to the connection, which refers to this: a cycle would wait for a
        # full collection, and strangers open connections by the thousand.
        self._resync = self._too_slow = _nothing

    def _is_too_much(self, size: int) -> bool:
        # The socket reports draining only after high water, so a lag never starts below. The buffer
        # stays within the limit, or within high water and one frame if that is more.
        backlog = self._socket.backlog()
        return backlog > HIGH_WATER and backlog + size > self._limit_bytes

    def _lag(self) -> None:
        if self._timers.time() < self._relapse_until:
            self._give_up()
        else:
            self.state = "lagging"
            self._lag_timer = self._timers.call_later(LAG_SECONDS, self._give_up)

    def _recover(self) -> None:
        self.state = "flowing"
        self._stop_timer()
        self._relapse_until = self._timers.time() + RELAPSE_SECONDS

    def _give_up(self) -> None:
        too_slow = self._too_slow
        self.close()
        too_slow()

    def _stop_timer(self) -> None:
        if self._lag_timer is not None:
            self._lag_timer.cancel()
            self._lag_timer = None


def _nothing() -> None:
    """Replaces the callbacks of a closed outbox."""
