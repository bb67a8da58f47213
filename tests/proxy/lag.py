"""Replication that lags: relays before engines, each of which dies with its engine.

A relay is a long way, not a narrow one: everything comes late by the same time.

An engine of a cluster announces an address of its relay to the others, and its own to clients. So
only replicas and the bus go by the relay. Bytes to replicas wait there, and are lost with it.

The relays of all engines are one process: engines must not miss each other's pings because a test
is busy. Linux only: elsewhere there is one loopback address.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import Final

from tests.proxy.carrier import CHUNK, Direction, Ends, TcpCarrier

RELAYS: Final = "127.0.0.2"
"""Where relays listen, at the ports of their engines."""
FULL_SYNC: Final = b"PSYNC"
READY: Final = b"ready\n"


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
        later = asyncio.get_running_loop().call_later
        while data := await reader.read(CHUNK):
            if way == "up" and FULL_SYNC in data:
                self._replicas.add(source[1])
            if way == "down" and writer in self._replicas:
                later(self._lag_seconds, _deliver, writer, data)
            else:
                writer.write(data)
                await writer.drain()


def _deliver(writer: asyncio.StreamWriter, data: bytes) -> None:
    if not writer.is_closing():
        writer.write(data)


class Relays:
    """The relays of some engines, as a process."""

    def __init__(self, ports: Sequence[int], lag_seconds: float) -> None:
        self._command = [sys.executable, "-m", __name__, str(lag_seconds), *map(str, ports)]
        self._process: subprocess.Popen[bytes] | None = None

    def end(self, port: int) -> None:
        """Lose all that is on its way from the engine at this port."""
        self._ask(b"%d\n" % port)

    @contextmanager
    def running(self) -> Iterator[None]:
        with subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            self._process = process
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == READY
                yield
            finally:
                process.terminate()

    def _ask(self, line: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        assert self._process.stdout.readline() == READY


async def relay(lag_seconds: float, ports: Sequence[int]) -> None:
    """Relay until this process ends. A port on a line by itself ends the ways to it."""
    relays = {port: Relay(port, lag_seconds) for port in ports}
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    async with AsyncExitStack() as stack:
        for each in relays.values():
            await stack.enter_async_context(each)
        tell_ready()
        while line := await lines.readline():
            relays[int(line)].end_all()
            tell_ready()


def tell_ready() -> None:
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(relay(float(sys.argv[1]), [int(port) for port in sys.argv[2:]]))
