"""A proxy between a client and an engine's unix socket that mistreats answers; requests arrive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from tests.proxy.carrier import CHUNK, Carrier, Direction, Ends


class Proxy(Carrier):
    """Its fields say what happens to the answers."""

    def __init__(self, engine_url: str, socket: Path) -> None:
        super().__init__()
        self.url = f"unix://{socket}"
        self.lose_share = 0.0
        """Share of answers that are replaced by a cut, by a fixed die."""
        self.lost = 0
        self.drip_seconds: float | None = None
        """Between one byte and the next."""
        self.cut_after: int | None = None
        """Bytes of answers before the connection is cut."""
        self.silent = False
        """Drops all answers, and leaves the connection open. One that has lost an answer ends with
        the next: later answers would be taken for the lost ones."""
        self._engine = urlsplit(engine_url).path
        self._socket = socket
        self._die = Random(1)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Proxy"]:
        async with self:
            try:
                yield self
            finally:
                self._socket.unlink(missing_ok=True)

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_unix_server(self._accept, self._socket)

    async def _connect(self) -> Ends:
        return await asyncio.open_unix_connection(self._engine)

    async def _carry(self, way: Direction, source: Ends, target: Ends) -> None:
        reader, writer = source[0], target[1]
        dropped = False
        while data := await reader.read(CHUNK):
            if way == "up":
                writer.write(data)
                await writer.drain()
            elif self.silent:
                dropped = True
            elif dropped:
                return
            elif await self._cuts(data, writer):
                self.lost += 1
                return

    async def _cuts(self, data: bytes, client: asyncio.StreamWriter) -> bool:
        """Pass an answer on, or a part of it. Returns whether the connection is cut after it."""
        lose = self._die.random() < self.lose_share
        passed = 0 if lose else len(data) if self.cut_after is None else self.cut_after
        for piece in self._pieces(data[:passed]):
            client.write(piece)
            await client.drain()
            await asyncio.sleep(self.drip_seconds or 0)
        if self.cut_after is not None:
            self.cut_after -= len(data[:passed])
        return lose or self.cut_after == 0

    def _pieces(self, data: bytes) -> list[bytes]:
        if self.drip_seconds is None:
            return [data] if data else []
        return [bytes([byte]) for byte in data]

    def cut(self) -> None:
        """Close every connection."""
        for writer in list(self._open):
            writer.close()
