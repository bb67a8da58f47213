"""Strangers send nonsense, a million frames of it, beside a game.

Every frame is read to its end: after each lot the server is asked for a pong. Nothing crashes, no
exception goes unhandled, memory stays, and the game goes on. One node has its error budget lifted,
or each connection would end after a dozen frames; the other one ends them.
"""

import asyncio
from contextlib import suppress
from random import Random
from typing import Final

from websockets.frames import Opcode

from tests.gateway.ws.socket_frames import masked
from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Size
from tests.programs.faults.fuzz import breaks, messages
from tests.programs.faults.habits import Habits
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.stage import Order, Stage, stage
from tests.programs.faults.stuck import ORIGIN, handshake
from tests.store.processes import is_running
from towerhall_protocol.codec import encode
from towerhall_protocol.errors import CLOSES
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import ClientHello, ClientPing, Greeting

TITLE: Final = "fuzzed frames beside a game"
USUAL: Final = "2 minutes"
LOT: Final = 50
LOTS: Final = 500
BETWEEN_SECONDS: Final = 0.015
"""A flood that fills a node's core tells how fast it is, not whether a game can go on beside it."""
CORPUS: Final = 4000
STRANGERS: Final = 4
MOST_MIB: Final = 50
MOVE_SECONDS: Final = 0.5
ANSWER_SECONDS: Final = 20.0
NO_BUDGET: Final = {"TOWERHALL_LIMIT_BAD_MESSAGES": "100000000/s burst 100000000"}
MIB: Final = 1 << 20
BUDGET: Final = 30
"""With a budget, a connection ends before so many bad frames."""


class _Tally:
    """What was done, and what came of it."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.frames = 0
        """That were read to their end."""
        self.broken: dict[str, int] = {}
        """By kind of break: connections that the server ended, as it should."""
        self.spent = 0
        """Connections that ended because of their error budget."""
        self.failures: list[str] = []


async def run(order: Order) -> Outcome:
    tally = _Tally(order.of(8_000, 1_000_000))
    size = Size(rooms=order.of(4, 8))
    habits = Habits(think_seconds=0.1)
    told = {0: NO_BUDGET}
    async with stage("hostile_frames", order, size=size, habits=habits, nodes=2, told=told) as on:
        corpus = messages(Random(order.seed), CORPUS)
        code = next(iter(on.crowd.tables))
        await _flood(on, code, corpus, _Tally(order.of(2_000, 20_000)), order.seed)  # warm
        rss = [node.rss for node in on.rig.nodes]
        on.crowd.latencies.clear()
        shown = on.progress(tally.wanted)
        flood = asyncio.create_task(_flood(on, code, corpus, tally, order.seed))
        while not flood.done():
            await asyncio.wait((flood,), timeout=1)
            await on.hit("second_of_nonsense")
            shown.show(max(1, tally.frames))
        flood.result()
        shown.done()
        grown = [(node.rss - before) / MIB for node, before in zip(on.rig.nodes, rss, strict=True)]
        on.failures += tally.failures
        on.failures += [
            f"{node.name} has ended" for node in on.rig.nodes if not is_running(node.pid)
        ]
        moves = on.crowd.latencies
        players = on.crowd.everybody
        dropped = sum(player.dropped for player in players)
        return await on.finish(
            (
                Figure("bad frames, read to the end", tally.frames, "", at_least=tally.wanted),
                Figure("connections ended by the budget", tally.spent, "", at_least=1),
                Figure(
                    "kinds of broken framing ended", len(tally.broken), "", at_least=len(breaks())
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


async def _flood(on: Stage, code: str, corpus: list[bytes], tally: _Tally, seed: int) -> None:
    free, bounded = (node.address for node in on.rig.nodes)
    async with asyncio.TaskGroup() as strangers:
        for number in range(STRANGERS):
            stranger = _Stranger(on.crowd.token(), code, Random(f"{seed}/{number}"), tally)
            strangers.create_task(stranger.shout(free, corpus))
        probe = _Stranger(on.crowd.token(), code, Random(seed), tally)
        strangers.create_task(probe.try_limits(bounded, corpus))


class _Stranger:
    def __init__(self, token: str, code: str, chance: Random, tally: _Tally) -> None:
        self._hello = masked(Opcode.BINARY, encode(ClientHello(Greeting(token, LEVEL, ORIGIN))))
        self._code = code
        self._chance = chance
        self._tally = tally

    async def shout(self, address: str, corpus: list[bytes]) -> None:
        """Lots of bad frames, each lot followed by a ping."""
        while self._tally.frames < self._tally.wanted and not self._tally.failures:
            await self._shout_for_a_while(address, corpus)

    async def _shout_for_a_while(self, address: str, corpus: list[bytes]) -> None:
        """Over one connection. It does not live for ever: a stranger does not answer pings."""
        tally = self._tally
        reader, writer = await handshake(address, self._code)
        writer.write(self._hello)
        for lot in range(LOTS):
            if tally.frames >= tally.wanted:
                break
            start = self._chance.randrange(len(corpus) - LOT)
            writer.write(b"".join(corpus[start : start + LOT]))
            writer.write(masked(Opcode.BINARY, encode(ClientPing(1_000_000 + lot))))
            pong = encode(("pong", 1_000_000 + lot))[1:]
            if not await _reads(reader, pong):
                tally.failures.append(f"no pong after lot {lot}")
                break
            tally.frames += LOT
            await asyncio.sleep(BETWEEN_SECONDS)
        writer.close()

    async def try_limits(self, address: str, corpus: list[bytes]) -> None:
        """The error budget, and everything that is no WebSocket frame."""
        for kind, make in breaks().items():
            reader, writer = await handshake(address, self._code)
            writer.write(self._hello + make())
            if await _ends(reader):
                self._tally.broken[kind] = self._tally.broken.get(kind, 0) + 1
            else:
                self._tally.failures.append(f"{kind} did not end the connection")
            writer.close()
        reader, writer = await handshake(address, self._code)
        bad = masked(Opcode.BINARY, b"\xc1")
        writer.write(self._hello + bad * BUDGET)
        close = CLOSES["bad_message"].code.to_bytes(2)
        if await _reads(reader, close):
            self._tally.spent += 1
        else:
            self._tally.failures.append("the error budget has no end")
        writer.close()


async def _reads(reader: asyncio.StreamReader, wanted: bytes) -> bool:
    """Whether these bytes come."""
    seen = b""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            while data := await reader.read(1 << 16):
                seen = seen[-len(wanted) :] + data
                if wanted in seen:
                    return True
    return False


async def _ends(reader: asyncio.StreamReader) -> bool:
    """Whether the other side ends the connection."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            while await reader.read(1 << 16):
                pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True
