"""Strangers hold as many connections as they get, and send next to nothing over each.

Each of several addresses keeps more connections open than one address may have, at every node, and
opens another one as soon as one has ended. No connection outlives the time of a request, health
checks are answered, memory stays, and the games go on.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, repeat
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.rig import Node
from tests.programs.faults.stage import Order, stage
from tests.programs.faults.stuck import request
from tests.proxy.faults import HOST
from towerhall_server.access.rates import Limits

TITLE: Final = "connections that send next to nothing"
USUAL: Final = "1 minute"
MIB: Final = 1 << 20
MOST_MIB: Final = 30
MORE: Final = 20
"""Connections that an address wants beyond those that it may have."""
PIECES: Final = 4
"""Pieces that a connection sends in the time of a request: a flood would tell of something else."""
SLACK_SECONDS: Final = 3.0
"""On top of the time of a request: for the peer to read why, and for a busy machine."""
HEALTH_SECONDS: Final = 1.0
MOVE_SECONDS: Final = 0.5
REFUSED: Final = b"too_many"
CHECK: Final = b"GET /healthz HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n"
HEADERS: Final = b"GET /v1/games HTTP/1.1\r\nhost: here\r\n"
POST: Final = b"POST /v1/guests HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n"
CHUNKED: Final = POST + b"transfer-encoding: chunked\r\n\r\n"


def kinds(address: str, code: str) -> dict[str, Iterator[bytes]]:
    """By kind: the pieces that one connection sends, without end."""
    handshake = request(address, code)
    return {
        "nothing": repeat(b""),
        "headers by the byte": (bytes([byte]) for byte in cycle(HEADERS + b"x: y\r\n")),
        "headers without end": _first(HEADERS, b"x: y\r\n"),
        "half a body": _first(POST + b"content-length: 9\r\n\r\n{", b""),
        "a body by the byte": _first(POST + b"content-length: 4000\r\n\r\n{", b" "),
        "chunks without end": _first(CHUNKED, b"1\r\n \r\n"),
        "half a handshake": _first(handshake[:-2], b""),
        "a handshake by the byte": (bytes([byte]) for byte in cycle(handshake[:-2])),
        "a socket without a hello": _first(handshake, b""),
    }


def _first(begin: bytes, then: bytes) -> Iterator[bytes]:
    yield begin
    yield from repeat(then)


class _Strangers:
    """All of them, and how their connections have ended."""

    def __init__(self, code: str, request_seconds: float) -> None:
        self.lives: list[float] = []
        """Seconds of each connection that was taken."""
        self.ended: dict[str, int] = {}
        """By kind, those that were taken."""
        self.refused = 0
        self._code = code
        self._pause_seconds = request_seconds / PIECES

    async def hold(self, node: Node, source: str, number: int) -> None:
        """One connection after the other, for ever. Neighbours are of different kinds."""
        loop = asyncio.get_running_loop()
        while True:
            made = kinds(node.address, self._code)
            kind = list(made)[number % len(made)]
            began = loop.time()
            heard = await self._trickle(node, source, made[kind])
            if REFUSED in heard:
                self.refused += 1
                await asyncio.sleep(self._pause_seconds)
            else:
                self.lives.append(loop.time() - began)
                self.ended[kind] = self.ended.get(kind, 0) + 1

    async def _trickle(self, node: Node, source: str, pieces: Iterator[bytes]) -> bytes:
        """Send a piece now and then until the node ends the connection; all that it said."""
        reader, writer = await asyncio.open_connection(HOST, node.port, local_addr=(source, 0))
        hearing = asyncio.create_task(_all(reader))
        try:
            while not hearing.done():
                writer.write(next(pieces))
                await asyncio.wait((hearing,), timeout=self._pause_seconds)
            return hearing.result()
        finally:
            hearing.cancel()
            writer.transport.abort()


async def run(order: Order) -> Outcome:
    seconds, most = order.of(4, 45), order.of(60, 200)
    addresses = [f"127.0.1.{number + 1}" for number in range(order.of(2, 4))]
    allowed = {"TOWERHALL_LIMIT_CONNECTIONS_PER_IP": str(most)}
    if order.short:
        allowed |= {f"TOWERHALL_LIMIT_{name}_SECONDS": "1" for name in ("REQUEST", "HELLO")}
    request_seconds = 1.0 if order.short else Limits().request_seconds
    told = {0: allowed, 1: allowed}
    habits = Habits(think_seconds=0.1)
    size = Size(rooms=order.of(4, 12))
    async with stage(
        "slow_connections", order, size=size, habits=habits, nodes=len(told), told=told
    ) as on:
        strangers = _Strangers(next(iter(on.crowd.tables)), request_seconds)
        checks: list[float] = []
        rss = [node.rss for node in on.rig.nodes]
        on.crowd.latencies.clear()
        shown = on.progress(seconds)
        holding = [
            asyncio.create_task(strangers.hold(node, source, number))
            for node in on.rig.nodes
            for source in addresses
            for number in range(most + MORE)
        ]
        for second in range(1, seconds + 1):
            await on.hit("second_of_slow_connections")
            checks += await asyncio.gather(*(_health(node) for node in on.rig.nodes))
            await asyncio.sleep(1)
            shown.show(second)
        moves = list(on.crowd.latencies)
        grown = [(node.rss - before) / MIB for node, before in zip(on.rig.nodes, rss, strict=True)]
        for each in holding:
            each.cancel()
        for end in await asyncio.gather(*holding, return_exceptions=True):
            if not isinstance(end, asyncio.CancelledError):
                on.failures.append(f"a stranger gave up: {end!r}")
        shown.done()
        players = on.crowd.everybody
        dropped = sum(player.dropped for player in players)
        return await on.finish(
            (
                Figure("slow connections ended", len(strangers.lives), "", at_least=len(holding)),
                Figure("kinds of them", len(strangers.ended), "", at_least=len(kinds("", ""))),
                Figure(
                    "the longest of them",
                    max(strangers.lives, default=float("inf")),
                    "s",
                    at_most=request_seconds + SLACK_SECONDS,
                ),
                Figure("connections beyond the limit refused", strangers.refused, "", at_least=1),
                Figure(
                    "a health check meanwhile, slowest",
                    max(checks),
                    "s",
                    at_most=HEALTH_SECONDS,
                    note=f"of {len(checks)}",
                ),
                Figure("memory, growth of a node", max(grown), "MiB", at_most=MOST_MIB),
                Figure(
                    "a move of the game meanwhile, p99",
                    percentile(moves, 0.99),
                    "s",
                    at_most=MOVE_SECONDS,
                    note=f"{len(moves)} moves, median {percentile(moves, 0.5):.3f}",
                ),
                Figure("players dropped", dropped, "", at_most=0, note=f"of {len(players)}"),
            )
        )


async def _all(reader: asyncio.StreamReader) -> bytes:
    heard = b""
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            heard += data
    return heard


async def _health(node: Node) -> float:
    """Seconds until the node has said that it lives."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    reader, writer = await asyncio.open_connection(HOST, node.port)
    writer.write(CHECK)
    heard = await _all(reader)
    writer.transport.abort()
    if not heard.startswith(b"HTTP/1.1 200"):
        raise AssertionError(f"{node.name} is not healthy: {heard[:200]!r}")
    return loop.time() - began
