"""A proxy between client and engine that loses answers: the request arrives, the reply does not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

CHUNK = 1 << 16


class Proxy:
    """Forwards to an engine's unix socket and loses a share of the answers, by a fixed die."""

    def __init__(self, engine_url: str, socket: Path) -> None:
        self.url = f"unix://{socket}"
        self.lose_share = 0.0
        self.lost = 0
        self._engine = urlsplit(engine_url).path
        self._socket = socket
        self._die = Random(1)
        self._open: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Proxy"]:
        server = await asyncio.start_unix_server(self._serve, self._socket)
        try:
            yield self
        finally:
            server.close()
            for writer in list(self._open):
                writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine_reader, engine_writer = await asyncio.open_unix_connection(self._engine)
        self._open |= {writer, engine_writer}
        try:
            async with asyncio.TaskGroup() as both_ways:
                both_ways.create_task(_copy(reader, engine_writer))
                both_ways.create_task(self._answer(engine_reader, writer, engine_writer))
        except* OSError:
            pass
        finally:
            for end in (writer, engine_writer):
                self._open.discard(end)
                end.close()

    async def _answer(
        self,
        engine: asyncio.StreamReader,
        client: asyncio.StreamWriter,
        engine_writer: asyncio.StreamWriter,
    ) -> None:
        while data := await engine.read(CHUNK):
            if self._die.random() < self.lose_share:
                self.lost += 1
                client.close()
                engine_writer.close()
                return
            client.write(data)
            await client.drain()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()
    target.close()
