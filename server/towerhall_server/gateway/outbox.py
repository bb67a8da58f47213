"""How much may wait for one connection, and what becomes of a reader that falls behind.

A message that no longer fits starts a *lag*: from then on everything is dropped, which costs
nothing to hold, until the reader has caught up with what was written. Then it is resynchronised:
the next thing it gets is a `reset`, whose view stands for all that was dropped. That is done once.
A reader that falls behind again soon, or that does not catch up at all, is too slow.

    flowing ──does not fit──▶ lagging ──drained──▶ resyncing ──reset──▶ flowing
       └──does not fit, soon after a reset──▶ given up ◀──too long──┘

Bytes are the socket's matter, and what a `reset` holds is the room's.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Literal, Protocol

from towerhall_protocol.lobby import LobbyReset
from towerhall_protocol.messages import ServerReset
from towerhall_server.gateway.ending import HIGH_WATER
from towerhall_server.room.prepared import Prepared

LIMIT_BYTES = 256 * 1024
LAG_SECONDS = 20.0
"""How long a reader may take from the first message that did not fit to its `reset`."""
RESETS = (ServerReset, LobbyReset)
"""What stands for everything that was dropped."""
RELAPSE_SECONDS = 30.0
"""How long a reader has to keep up after its `reset`."""


class Wire(Protocol):
    """What an outbox needs of a socket."""

    @property
    def full(self) -> bool:
        """Whether the backlog has been above high water, and not below low water since."""
        ...

    def backlog(self) -> int: ...
    def write_frame(self, frame: bytes) -> None: ...


class Timer(Protocol):
    """Something that will be done later, unless it is cancelled."""

    def cancel(self) -> None: ...


class Timers(Protocol):
    """What an outbox needs of an event loop."""

    def time(self) -> float: ...
    def call_later(self, delay: float, callback: Callable[[], Any], /) -> Timer: ...


class Outbox:
    """All that is sent to one connection goes through here."""

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
        socket: Wire,
        text: bool,
        resync: Callable[[], None],
        too_slow: Callable[[], None],
        limit_bytes: int = LIMIT_BYTES,
        timers: Timers | None = None,
    ) -> None:
        """`resync` asks for a `reset` to be sent, now or soon. `too_slow` shall end the connection;
        it may be called while a message is being sent."""
        if limit_bytes < HIGH_WATER:
            raise ValueError(f"the limit is {limit_bytes}, less than {HIGH_WATER}")
        self._socket = socket
        self._text = text
        self._resync = resync
        self._too_slow = too_slow
        self._limit_bytes = limit_bytes
        self._timers: Timers = asyncio.get_running_loop() if timers is None else timers
        self._lag_timer: Timer | None = None
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
        """The socket is writable again after its backlog was above high water."""
        if self.state == "lagging":
            self.state = "resyncing"
            self._resync()

    def close(self) -> None:
        """The connection is over: nothing more is sent, nobody is called."""
        self.state = "given up"
        self._stop_timer()

    def _is_too_much(self, size: int) -> bool:
        # Only above high water will the socket say when it has drained, so no lag starts below: the
        # backlog stays within the limit, or within high water and one frame if that is more.
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
        self.close()
        self._too_slow()

    def _stop_timer(self) -> None:
        if self._lag_timer is not None:
            self._lag_timer.cancel()
            self._lag_timer = None
