"""uvicorn with another shutdown: clients are drained before their connections are cut."""

import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn

HANDLED_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class DrainingServer(uvicorn.Server):
    """uvicorn that drains rooms before it cuts their connections."""

    def __init__(
        self,
        config: uvicorn.Config,
        drain: Callable[[], Awaitable[None]],
        announce: Callable[[str], None],
    ) -> None:
        super().__init__(config)
        self._drain = drain
        self._announce = announce

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Gap: uvicorn raises the signal again at its end, while the store is still open."""
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            self._announce(f"http://{for_url(self.config.host)}:{port}/")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._drain()
        await super().shutdown(sockets=sockets)


def for_url(host: str) -> str:
    """Return the host for an address that can be opened on this machine."""
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host  # noqa: S104 - only shown
    return f"[{shown}]" if ":" in shown else shown
