"""Accepts connections, opens one to the target for each, and carries bytes both ways.

A proxy is a subclass that says where to listen, where to connect, and how to carry a direction.
"""

import asyncio
import socket
import struct
from abc import ABC, abstractmethod
from contextlib import suppress
from types import TracebackType
from typing import ClassVar, Final, Literal, Self, TypeAlias

from tests.sockets import end, part, serving

Direction: TypeAlias = Literal["up", "down"]
"""`up` is what the client sends."""
Ends: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
CHUNK: Final = 1 << 16
HOST: Final = "127.0.0.1"
RESET: Final = struct.pack("ii", 1, 0)


class Carrier(ABC):
    """A proxy, to be used as a context."""

    ends_when: ClassVar[str] = asyncio.FIRST_COMPLETED
    """Which directions must have ended before both connections are closed."""

    def __init__(self) -> None:
        self.connections = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await self._listen()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.end_all()
        await end(self._tasks)

    def end_all(self) -> None:
        """Abort all connections."""
        for writer in tuple(self._open):
            writer.transport.abort()

    @abstractmethod
    async def _listen(self) -> asyncio.Server:
        """Serve `_accept` at the proxy's address."""

    @abstractmethod
    async def _connect(self) -> Ends:
        """Open a connection to the target."""

    @abstractmethod
    async def _carry(self, way: Direction, source: Ends, target: Ends) -> None:
        """Carry one direction of a connection until it ends."""

    def _admits(self) -> bool:
        """Whether a new connection is accepted."""
        return True

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving(self._tasks)
        self.connections += 1
        client = reader, writer
        self._open.add(writer)
        try:
            if not self._admits():
                return reset(writer)
            try:
                server = await self._connect()
            except OSError:
                return reset(writer)
            self._open.add(server[1])
            try:
                await self._join(client, server)
            finally:
                self._open.discard(server[1])
                await part(server[1])
        finally:
            self._open.discard(writer)
            await part(writer)

    async def _join(self, client: Ends, server: Ends) -> None:
        pumps = (
            asyncio.create_task(self._pump("up", client, server)),
            asyncio.create_task(self._pump("down", server, client)),
        )
        try:
            await asyncio.wait(pumps, return_when=self.ends_when)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump(self, way: Direction, source: Ends, target: Ends) -> None:
        with suppress(OSError):
            await self._carry(way, source, target)


class TcpCarrier(Carrier):
    """A proxy at a free port of this machine, which leads to another port."""

    def __init__(self, target: int) -> None:
        super().__init__()
        self.port = 0
        self._target = target

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/"

    async def _listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._accept, HOST, 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _connect(self) -> Ends:
        return await asyncio.open_connection(HOST, self._target)


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection by a TCP reset."""
    raw = writer.get_extra_info("socket")
    # A connection that was reset just now has no socket any more.
    if raw is not None and not writer.transport.is_closing():
        with suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()
