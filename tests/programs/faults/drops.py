"""Connections end at random bytes, both ways, handshakes among them.

Whoever comes back gets exactly what it missed, or a snapshot: no gap, nothing twice.
"""

import asyncio
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.history import Sync
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, stage

TITLE: Final = "disconnects at random byte offsets"
USUAL: Final = "3 minutes"
MOST_UP: Final = 1200
MOST_DOWN: Final = 4000
SAMPLE: Final = 100
"""Commands under way are counted at every so many drops."""
STALL_SECONDS: Final = 600


class _Scissors:
    """Where each new connection ends, once it is sharp."""

    def __init__(self, seed: int) -> None:
        self.sharp = False
        self._chance = Random(seed)

    def cut(self) -> tuple[int, int]:
        if not self.sharp:
            return -1, -1
        if self._chance.random() < 0.5:
            return self._chance.randrange(MOST_UP), -1
        return -1, self._chance.randrange(MOST_DOWN)


async def run(order: Order) -> Outcome:
    drops = order.of(150, 10_000)
    scissors = _Scissors(order.seed)
    size = Size(rooms=order.of(5, 16), watchers=2)
    habits = Habits(think_seconds=0.05, retry_seconds=0.02, retry_most_seconds=0.1)
    async with stage("drops", order, size=size, habits=habits, cut=scissors.cut) as on:
        shown = on.progress(drops)
        scissors.sharp = True
        for player in tuple(on.crowd):
            player.drop()  # those that stand are on connections that last
        counted = done = 0
        async with asyncio.timeout(STALL_SECONDS):
            while done < drops:
                await asyncio.sleep(0.02)
                done = sum(front.cuts for front in on.fronts)
                while counted < done // SAMPLE:
                    counted += 1
                    await on.hit(f"{SAMPLE}_drops")
                shown.show(done)
        scissors.sharp = False
        for front in on.fronts:
            front.reset()
        shown.done()
        clients = [each for every in on.history.recorders.values() for each in every]
        outcome = await on.finish()
        syncs = [e for c in clients for e in c.entries if isinstance(e, Sync)]
        resumed = sum(not sync.whole for sync in syncs)
        note = f"{resumed} resumed with what was missed, {len(syncs) - resumed} by a snapshot"
        return outcome.with_figures(
            (
                Figure("connections cut", done, "", at_least=drops),
                Figure("welcomes and resets", len(syncs), "", note=note),
            )
        )
