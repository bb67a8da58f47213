"""Nodes are restarted one after the other by SIGTERM, with peers on them that never read.

Nothing is lost, clients are asked to go in time, and the process ends soon whatever its peers do.
"""

import asyncio
from random import Random
from time import monotonic
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.stage import Order, Stage, stage
from tests.programs.faults.stuck import Stuck

TITLE: Final = "rolling restarts by SIGTERM under load"
USUAL: Final = "7 minutes"
EXIT_SECONDS: Final = 20.0
PAUSE_SECONDS: Final = 2.0
STUCK: Final = 3
BETWEEN_SECONDS: Final = 0.5


async def run(order: Order) -> Outcome:
    rolls = order.of(1, 20)
    chance = Random(order.seed)
    async with stage("rolling_restart", order) as on:
        nodes = on.rig.nodes
        restarted = nodes[: order.of(1, len(nodes))]
        shown = on.progress(rolls * len(restarted))
        exits: list[float] = []
        statuses: list[int] = []
        on.crowd.away.clear()
        for roll in range(rolls):
            for at in range(len(restarted)):
                seconds, status = await _restart(on, at, chance)
                exits.append(seconds)
                statuses.append(status)
                shown.show(roll * len(restarted) + at + 1)
        shown.done()
        away, dropped = on.crowd.away, sum(player.dropped for player in on.crowd.everybody)
        note = f"in {len(exits)} restarts"
        return await on.finish(
            (
                Figure("SIGTERM to exit, most", max(exits), "s", at_most=EXIT_SECONDS, note=note),
                Figure("exits with an error", sum(map(bool, statuses)), "", at_most=0, note=note),
                Figure(
                    "time out of the room, p99",
                    percentile(away, 0.99),
                    "s",
                    at_most=PAUSE_SECONDS,
                    note=f"{len(away)} returns, most {max(away, default=0):.2f}",
                ),
                Figure("dropped without being asked to go", dropped, "", note=note),
            )
        )


async def _restart(on: Stage, at: int, chance: Random) -> tuple[float, int]:
    """How long the node took to end, and how it ended."""
    node = on.rig.nodes[at]
    stuck = [Stuck() for _ in range(STUCK)]
    for each in stuck:
        code = chance.choice(list(on.crowd.tables))
        await each.enter(node.address, code, on.crowd.token())
        for _ in range(10):
            each.ask()
    await on.hit("terminate", at)
    began = monotonic()
    status = await node.terminate()
    seconds = monotonic() - began
    for each in stuck:
        each.close()
    await node.start()
    await asyncio.sleep(BETWEEN_SECONDS)
    return seconds, status
