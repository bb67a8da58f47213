"""A node loses its way to the store, in each way in which a network can do that.

It acknowledges nothing that is not in the log, and after a few seconds without the store it tells
its clients to go elsewhere. What it had sent before may arrive later than anybody thinks.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, Stage, stage
from tests.proxy.faults import FaultProxy

TITLE: Final = "a node cut from the store: black hole, reset, one way, delay"
USUAL: Final = "4 minutes"
LONG_SECONDS: Final = 6.0
"""By then all clients must have been told to go: 3 s without the store, and 2 s to leave."""
BRIEF_SECONDS: Final = 0.5
DELAY_SECONDS: Final = 0.4


def _reset(way: FaultProxy) -> None:
    way.refuse = True
    way.reset()


def _delay(way: FaultProxy) -> None:
    way.up.delay_seconds = way.down.delay_seconds = DELAY_SECONDS


CUTS: Final[dict[str, Callable[[FaultProxy], None]]] = {
    "black_hole": FaultProxy.hold,
    "reset": _reset,
    "requests_held": lambda way: way.up.hold(),
    "answers_held": lambda way: way.down.hold(),
    "delay": _delay,
}


async def run(order: Order) -> Outcome:
    repeats = order.of(1, 5)
    chance = Random(order.seed)
    async with stage("store_cut", order, proxied=True) as on:
        left = _Left()
        shown = on.progress(repeats * len(CUTS))
        for repeat in range(repeats):
            for number, kind in enumerate(CUTS, start=1):
                # Every way is tried briefly and for long; the short version has one that is long.
                is_long = kind == "reset" if order.short else (repeat + number) % 2 == 0
                await _cut(on, kind, chance, left if is_long and kind != "delay" else None)
                shown.show(repeat * len(CUTS) + number)
        shown.done()
        note = f"{left.stayed} of {left.there} players, in {left.cuts} cuts of {LONG_SECONDS:g} s"
        return await on.finish(
            (Figure("players left at a node without store", left.stayed, "", 0, note=note),)
        )


class _Left:
    """Who did not leave a node that had lost the store for long."""

    def __init__(self) -> None:
        self.cuts = self.there = self.stayed = 0


async def _cut(on: Stage, kind: str, chance: Random, left: _Left | None) -> None:
    at = chance.randrange(len(on.rig.nodes))
    way = on.rig.ways[at]
    await on.hit(kind, at)
    there = {p: p.connections for p in on.crowd if p.at == at and p.up}
    CUTS[kind](way)
    await asyncio.sleep(BRIEF_SECONDS if left is None else LONG_SECONDS)
    if left is not None:
        left.cuts += 1
        left.there += len(there)
        left.stayed += sum(p.up and p.at == at and p.connections == n for p, n in there.items())
    way.heal()
    await asyncio.sleep(BRIEF_SECONDS)
