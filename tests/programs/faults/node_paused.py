"""A node is stopped for a while under load, and goes on where it was.

Meanwhile some of its players go elsewhere and play on. When it wakes, it still holds what they sent
before: none of that may be done a second time, and nothing that it believes may stand.
"""

import asyncio
from random import Random
from typing import Final

from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, stage

TITLE: Final = "SIGSTOP and SIGCONT of a random node under load"
USUAL: Final = "4 minutes"
PAUSE_SECONDS: Final = 10.0
SHORT_PAUSE_SECONDS: Final = 1.0
LEAVING: Final = 0.7
"""The share of its players that do not wait for it."""


async def run(order: Order) -> Outcome:
    pauses = order.of(1, 20)
    chance = Random(order.seed)
    async with stage("node_paused", order) as on:
        shown = on.progress(pauses)
        for pause in range(1, pauses + 1):
            at = chance.randrange(len(on.rig.nodes))
            node = on.rig.nodes[at]
            await on.hot(at)
            node.pause()
            on.fault("pause", at)
            try:
                for player in tuple(on.crowd):
                    if player.at == at and player.up and chance.random() < LEAVING:
                        player.drop()
                await asyncio.sleep(SHORT_PAUSE_SECONDS if order.short else PAUSE_SECONDS)
            finally:
                node.resume()
            await asyncio.sleep(chance.random())
            shown.show(pause)
        shown.done()
        return await on.finish()
