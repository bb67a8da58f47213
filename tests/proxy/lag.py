"""Replication that lags: relays before engines, each of which dies with its engine.

An engine of a cluster announces an address of its relay to the others, and its own to clients. So
only replicas and the bus go by the relay. Bytes to replicas wait there, and are lost with it.

The relays of all engines share a thread with a loop of its own. Linux only: elsewhere there is one
loopback address.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from threading import Event, Thread
from typing import Final

from tests.proxy.carrier import CHUNK, Direction, Ends, TcpCarrier

RELAYS: Final = "127.0.0.2"
"""Where relays listen, at the ports of their engines."""
FULL_SYNC: Final = b"PSYNC"


class Relay(TcpCarrier):
    """A way to one port of an engine."""

    def __init__(self, port: int, lag_seconds: float) -> None:
        super().__init__(port)
        self._lag_seconds = lag_seconds
        self._replicas: set[asyncio.StreamWriter] = set()

    async def _listen(self) -> asyncio.Server:
        self.port = self._target
        return await asyncio.start_server(self._accept, RELAYS, self._target)

    async def _carry(self, way: Direction, source: Ends, target: Ends) -> None:
        reader, writer = source[0], target[1]
        while data := await reader.read(CHUNK):
            if way == "up" and FULL_SYNC in data:
                self._replicas.add(source[1])
            if way == "down" and writer in self._replicas:
                await asyncio.sleep(self._lag_seconds)
            writer.write(data)
            await writer.drain()


class Relays:
    """The relays of some engines."""

    def __init__(self, ports: Sequence[int], lag_seconds: float) -> None:
        self._relays = {port: Relay(port, lag_seconds) for port in ports}
        self._ready, self._over = Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def end(self, port: int) -> None:
        """Lose all that is on its way from the engine at this port."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._relays[port].end_all)

    @contextmanager
    def running(self) -> Iterator[None]:
        loop = self._loop = asyncio.new_event_loop()
        thread = Thread(target=loop.run_until_complete, args=(self._run(),))
        thread.start()
        try:
            assert self._ready.wait(10)
            yield
        finally:
            loop.call_soon_threadsafe(self._over.set)
            thread.join()
            loop.close()

    async def _run(self) -> None:
        async with AsyncExitStack() as stack:
            for relay in self._relays.values():
                await stack.enter_async_context(relay)
            self._ready.set()
            await self._over.wait()
