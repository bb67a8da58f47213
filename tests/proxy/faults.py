"""A proxy to a TCP port on which things go wrong while it is in use: before the store, or a node.

Each direction can be held (nothing passes, nothing is lost: a network that drops packets for a
while), slowed down, or cut after a number of bytes. A reply can be swallowed after its request was
delivered. New connections can be refused, and all open ones can be reset. The meaning of the bytes
is unknown here.
"""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from tests.proxy.carrier import CHUNK, HOST, Direction, Ends, TcpCarrier, reset

__all__ = ["HOST", "FaultProxy", "Way"]


class Way:
    """One direction of all connections."""

    def __init__(self) -> None:
        self.delay_seconds = 0.0
        self._open = asyncio.Event()
        self._open.set()

    def hold(self) -> None:
        """Let nothing pass from now on."""
        self._open.clear()

    def release(self) -> None:
        """Let all held bytes pass, in order."""
        self._open.set()

    async def passed(self) -> None:
        if self.delay_seconds:
            await asyncio.sleep(self.delay_seconds)
        await self._open.wait()


class FaultProxy(TcpCarrier):
    """An address that leads to a port, with accidents."""

    def __init__(self, port: int, cut: Callable[[], tuple[int, int]] | None = None) -> None:
        super().__init__(port)
        self.up, self.down = Way(), Way()
        self.refuse = False
        self.lose_every = 0
        """One of this many replies is swallowed, and its connection ends; 0: none."""
        self.lost = 0
        self.cuts = 0
        """Connections that ended at the byte where `cut` wanted it."""
        self._cut = cut
        """Called for each new connection: bytes that may pass up and down, -1 for any."""
        self._replies = 0
        self._most: WeakKeyDictionary[asyncio.StreamWriter, int] = WeakKeyDictionary()
        """Bytes that may still be written to each end; -1 for any."""

    def end_all(self) -> None:
        self.reset()

    def hold(self) -> None:
        """A black hole, both ways."""
        self.up.hold()
        self.down.hold()

    def heal(self) -> None:
        """Let everything pass again."""
        self.refuse, self.lose_every = False, 0
        for way in (self.up, self.down):
            way.delay_seconds = 0.0
            way.release()

    def lead_to(self, port: int) -> None:
        """Lead to another port from now on. Open connections end."""
        self._target = port
        self.reset()

    def reset(self) -> None:
        """End every connection by a TCP reset."""
        for writer in tuple(self._open):
            reset(writer)

    def _admits(self) -> bool:
        return not self.refuse

    async def _join(self, client: Ends, server: Ends) -> None:
        most_up, most_down = (-1, -1) if self._cut is None else self._cut()
        self._most[server[1]], self._most[client[1]] = most_up, most_down
        await super()._join(client, server)

    async def _carry(self, way: Direction, source: Ends, target: Ends) -> None:
        """Until the source ends, or the bytes that may pass are used up."""
        reader, writer = source[0], target[1]
        passing, most = self.up if way == "up" else self.down, self._most[writer]
        while data := await reader.read(CHUNK):
            await passing.passed()
            if way == "down" and self._swallows():
                return
            if most >= 0:
                data, most = data[:most], max(0, most - len(data))
            writer.write(data)
            await writer.drain()
            if most == 0:
                self.cuts += 1
                return

    def _swallows(self) -> bool:
        if not self.lose_every:
            return False
        self._replies += 1
        is_lost = self._replies % self.lose_every == 0
        self.lost += is_lost
        return is_lost
