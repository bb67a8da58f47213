"""The fault proxy does what it is told, and passes everything else on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.proxy.faults import HOST, FaultProxy

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Echo:
    """A server that answers each piece with the same, and knows what arrived."""

    def __init__(self) -> None:
        self.arrived = b""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1000):
            self.arrived += data
            writer.write(data)
        writer.close()


@asynccontextmanager
async def echo() -> AsyncIterator[Echo]:
    made = Echo()
    server = await asyncio.start_server(made.serve, HOST, 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()


@asynccontextmanager
async def connected(proxy: FaultProxy) -> AsyncIterator[Ends]:
    reader, writer = await asyncio.open_connection(HOST, proxy.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def read(reader: asyncio.StreamReader, seconds: float = 2.0) -> bytes | None:
    """What comes; nothing at all for None, the end for no bytes."""
    try:
        return await asyncio.wait_for(reader.read(1000), seconds)
    except TimeoutError:
        return None
    except ConnectionError:
        return b""


async def test_bytes_pass_both_ways() -> None:
    async with echo() as server, FaultProxy(server.port) as proxy, connected(proxy) as (down, up):
        up.write(b"one")
        assert await read(down) == b"one"


async def test_what_is_held_arrives_when_it_is_released() -> None:
    async with echo() as server, FaultProxy(server.port) as proxy, connected(proxy) as (down, up):
        proxy.hold()
        up.write(b"one")
        assert await read(down, 0.1) is None
        assert server.arrived == b""
        proxy.heal()
        assert await read(down) == b"one"


async def test_one_way_may_be_held_alone() -> None:
    async with echo() as server, FaultProxy(server.port) as proxy, connected(proxy) as (down, up):
        proxy.down.hold()
        up.write(b"one")
        assert await read(down, 0.1) is None
        assert server.arrived == b"one"


async def test_a_delay_only_delays() -> None:
    async with echo() as server, FaultProxy(server.port) as proxy, connected(proxy) as (down, up):
        proxy.up.delay_seconds = 0.2
        up.write(b"one")
        assert await read(down, 0.1) is None
        assert await read(down) == b"one"


async def test_every_second_reply_is_swallowed_after_its_request_was_done() -> None:
    async with echo() as server, FaultProxy(server.port) as proxy, connected(proxy) as (down, up):
        proxy.lose_every = 2
        up.write(b"one")
        assert await read(down) == b"one"
        up.write(b"two")
        assert await read(down) == b""
        assert server.arrived == b"onetwo"
        assert proxy.lost == 1


@pytest.mark.parametrize(
    ("most", "arrives", "comes"), [((2, -1), b"on", b"on"), ((-1, 2), b"one", b"on")]
)
async def test_a_connection_ends_after_the_byte_that_was_asked_for(
    most: tuple[int, int], arrives: bytes, comes: bytes
) -> None:
    async with (
        echo() as server,
        FaultProxy(server.port, lambda: most) as proxy,
        connected(proxy) as (down, up),
    ):
        up.write(b"one")
        came = b""
        while data := await read(down):
            came += data
        assert server.arrived == arrives
        assert comes.startswith(came)
        assert proxy.cuts == 1


async def test_a_reset_ends_what_stands_and_a_refusal_what_comes() -> None:
    async with echo() as server, FaultProxy(server.port) as proxy, connected(proxy) as (down, up):
        up.write(b"one")
        assert await read(down) == b"one"
        proxy.refuse = True
        proxy.reset()
        assert await read(down) == b""
        async with connected(proxy) as (again, _):
            assert await read(again) == b""
        proxy.heal()
        async with connected(proxy) as (again, up_again):
            up_again.write(b"two")
            assert await read(again) == b"two"
