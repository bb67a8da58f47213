"""A way to a TCP port on which things go wrong while it is in use: before the store, or a node.

Each direction can be held (nothing passes, nothing is lost: what a network does that drops packets
and later does not), slowed down, or cut after a number of bytes. A reply can be swallowed after its
request was delivered. New connections can be refused, and all that stand can be reset. What the
bytes mean is not known here.
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from tests.sockets import end, part, serving

CHUNK: Final = 1 << 16
HOST: Final = "127.0.0.1"
RESET: Final = struct.pack("ii", 1, 0)


class Way:
    """One direction of all connections."""

    def __init__(self) -> None:
        self.delay_seconds = 0.0
        self._open = asyncio.Event()
        self._open.set()

    def hold(self) -> None:
        """From now on nothing passes."""
        self._open.clear()

    def release(self) -> None:
        """What was held passes, in order."""
        self._open.set()

    async def passed(self) -> None:
        if self.delay_seconds:
            await asyncio.sleep(self.delay_seconds)
        await self._open.wait()


class FaultProxy:
    """An address that leads to a port, with accidents. To be used as a context."""

    def __init__(self, port: int, cut: Callable[[], tuple[int, int]] | None = None) -> None:
        self.port = 0
        self.up, self.down = Way(), Way()
        self.refuse = False
        self.lose_every = 0
        """Of so many replies one is swallowed, and its connection ends; 0: none."""
        self.lost = 0
        self.cuts = 0
        """Connections that ended at the byte where `cut` wanted it."""
        self.connections = 0
        self._target = port
        self._cut = cut
        """Asked for each new connection: how many bytes may pass up and down, -1 for any."""
        self._replies = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.reset()
        await end(self._tasks)

    def hold(self) -> None:
        """A black hole, both ways."""
        self.up.hold()
        self.down.hold()

    def heal(self) -> None:
        """Everything passes again."""
        self.refuse, self.lose_every = False, 0
        for way in (self.up, self.down):
            way.delay_seconds = 0.0
            way.release()

    def reset(self) -> None:
        """End every connection rudely."""
        for writer in tuple(self._open):
            _reset(writer)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving(self._tasks)
        self.connections += 1
        if self.refuse:
            _reset(writer)
            return
        try:
            target_reader, target = await asyncio.open_connection(HOST, self._target)
        except OSError:
            _reset(writer)
            return
        most_up, most_down = (-1, -1) if self._cut is None else self._cut()
        self._open |= {writer, target}
        try:
            pumps = (
                asyncio.create_task(self._pump(reader, target, self.up, most_up)),
                asyncio.create_task(self._pump(target_reader, writer, self.down, most_down)),
            )
            with suppress(asyncio.CancelledError):
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        finally:
            for side in (writer, target):
                self._open.discard(side)
                await part(side)

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, way: Way, most: int
    ) -> None:
        """Until the source ends, or the bytes that may pass are used up."""
        with suppress(OSError):
            while data := await source.read(CHUNK):
                await way.passed()
                if way is self.down and self._swallows():
                    return
                if most >= 0:
                    data, most = data[:most], max(0, most - len(data))
                target.write(data)
                await target.drain()
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


def _reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    if raw is not None:
        with suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()
