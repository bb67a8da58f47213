"""A proxy between client and engine that mistreats answers; the requests always arrive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from tests.sockets import end, part, serving

CHUNK = 1 << 16


class Proxy:
    """Forwards to an engine's unix socket, and does to the answers what its fields say."""

    def __init__(self, engine_url: str, socket: Path) -> None:
        self.url = f"unix://{socket}"
        self.lose_share = 0.0
        """Cuts the connection instead of answering, by a fixed die."""
        self.lost = 0
        self.drip_seconds: float | None = None
        """Between one byte and the next."""
        self.cut_after: int | None = None
        """Cuts the connection after so many bytes of answers."""
        self.silent = False
        """Nothing comes back any more, and the connection stays open."""
        self.connections = 0
        self._engine = urlsplit(engine_url).path
        self._socket = socket
        self._die = Random(1)
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Proxy"]:
        server = await asyncio.start_unix_server(self._serve, self._socket)
        try:
            yield self
        finally:
            server.close()
            await end(self._tasks)
            self._socket.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        serving(self._tasks)
        self._open.add(writer)
        try:
            await self._carry(reader, writer)
        finally:
            self._open.discard(writer)
            await part(writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine_reader, engine_writer = await asyncio.open_unix_connection(self._engine)
        self._open.add(engine_writer)
        try:
            async with asyncio.TaskGroup() as both_ways:
                both_ways.create_task(_copy(reader, engine_writer))
                both_ways.create_task(self._answer(engine_reader, writer, engine_writer))
        except* OSError:
            pass
        finally:
            self._open.discard(engine_writer)
            await part(engine_writer)

    async def _answer(
        self,
        engine: asyncio.StreamReader,
        client: asyncio.StreamWriter,
        engine_writer: asyncio.StreamWriter,
    ) -> None:
        while data := await engine.read(CHUNK):
            if self.silent:
                continue
            lose = self._die.random() < self.lose_share
            passed = 0 if lose else len(data) if self.cut_after is None else self.cut_after
            for piece in self._pieces(data[:passed]):
                client.write(piece)
                await client.drain()
                await asyncio.sleep(self.drip_seconds or 0)
            if self.cut_after is not None:
                self.cut_after -= len(data[:passed])
            if lose or self.cut_after == 0:
                self.lost += 1
                client.close()
                engine_writer.close()
                return

    def _pieces(self, data: bytes) -> list[bytes]:
        if self.drip_seconds is None:
            return [data] if data else []
        return [bytes([byte]) for byte in data]

    def cut(self) -> None:
        """Close every connection."""
        for writer in list(self._open):
            writer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()
    target.close()
