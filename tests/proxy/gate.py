"""A proxy to a server that can go silent in one direction, and be closed and opened again.

Silent means a dead network: bytes of that direction are lost, and neither side is told. So a
connection that was silent never works again; `shut` ends it.
"""

import asyncio
from typing import ClassVar

from tests.proxy.carrier import CHUNK, Direction, Ends, TcpCarrier

__all__ = ["Gate", "Way"]

Way = Direction


class Gate(TcpCarrier):
    """An address that leads to a server while it is open."""

    ends_when: ClassVar[str] = asyncio.ALL_COMPLETED

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self._silent: set[Way] = set()
        self._is_open = True

    def silence(self, way: Way) -> None:
        """Drop all bytes of that direction from now on: `up` is what the page sends."""
        self._silent.add(way)

    def shut(self) -> None:
        """End all connections, and refuse new ones."""
        self._is_open = False
        self.end_all()

    def open(self) -> None:
        self._silent.clear()
        self._is_open = True

    def _admits(self) -> bool:
        return self._is_open

    async def _pump(self, way: Way, source: Ends, target: Ends) -> None:
        await super()._pump(way, source, target)
        if way not in self._silent:
            target[1].close()  # pass the end of the connection on

    async def _carry(self, way: Way, source: Ends, target: Ends) -> None:
        while data := await source[0].read(CHUNK):
            if way not in self._silent:
                target[1].write(data)
                await target[1].drain()
