"""A node is killed under load, again and again.

Its clients come back to the others, which load the rooms from the log; nothing that was
acknowledged is lost, nothing is done twice, and every room is played on soon.
"""

import asyncio
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.stage import Order, stage

TITLE: Final = "kill -9 of a random node under load"
USUAL: Final = "3 minutes"
PLAYABLE_SECONDS: Final = 1.5
BETWEEN_SECONDS: Final = 0.5


async def run(order: Order) -> Outcome:
    kills = order.of(1, 100)
    chance = Random(order.seed)
    async with stage("node_killed", order) as on:
        shown = on.progress(kills)
        for kill in range(1, kills + 1):
            at = chance.randrange(len(on.rig.nodes))
            node = on.rig.nodes[at]
            await on.hot(at)
            on.crowd.strike(at)
            on.fault("kill", at)
            await node.kill()
            # The others serve alone for a while before the node comes back.
            await asyncio.sleep(BETWEEN_SECONDS)
            await node.start()
            await asyncio.sleep(BETWEEN_SECONDS * chance.random())
            shown.show(kill)
        shown.done()
        back = on.crowd.back_after
        return await on.finish(
            (
                Figure(
                    "kill to the room's next move, p99",
                    percentile(back, 0.99),
                    "s",
                    at_most=PLAYABLE_SECONDS,
                    note=f"{len(back)} rooms hit in {kills} kills,"
                    f" median {percentile(back, 0.5):.2f}, most {max(back, default=0):.2f}",
                ),
            )
        )
