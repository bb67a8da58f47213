"""A way to a server that can go silent in one direction, and be closed and opened again.

Silent means what a dead network means: what is sent on a connection is gone and nobody is told. So
a connection that was silent never carries anything again; `shut` ends it.
"""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

from tests.sockets import end, part, serving

Way: TypeAlias = Literal["up", "down"]
HOST: Final = "127.0.0.1"
PIECE: Final = 1 << 16


class Gate:
    """An address that leads to a server as long as it is open. To be used as a context."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._silent: set[Way] = set()
        self._is_open = True
        self.url = ""

    def silence(self, way: Way) -> None:
        """From now on nothing gets through that way: `up` is what the page sends."""
        self._silent.add(way)

    def shut(self) -> None:
        """End all connections, and let nobody in."""
        self._is_open = False
        self._end_all()

    def open(self) -> None:
        self._silent.clear()
        self._is_open = True

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, 0)
        self.url = f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}/"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        self._end_all()
        await end(self._tasks)
        await self._server.wait_closed()

    def _end_all(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving(self._tasks)
        self._writers.add(writer)
        try:
            if self._is_open:
                await self._join(reader, writer)
        finally:
            await self._close(writer)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answers, questions = await asyncio.open_connection(HOST, self._port)
        except OSError:
            return
        self._writers.add(questions)
        try:
            await asyncio.gather(
                self._carry("up", reader, questions), self._carry("down", answers, writer)
            )
        finally:
            await self._close(questions)

    async def _carry(
        self, way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(PIECE):
                if way not in self._silent:
                    writer.write(data)
                    await writer.drain()
        if way not in self._silent:
            # Whoever was closed by one side is closed by the other.
            writer.close()

    async def _close(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        await part(writer)
