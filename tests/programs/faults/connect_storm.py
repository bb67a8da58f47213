"""All watchers of a node come back within a second after it was killed.

Rooms are read from the store once, however many ask for them, and the games go on.
"""

import asyncio
from functools import partial
from typing import Any, Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.players import Player
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.rig import Node
from tests.programs.faults.stage import Order, Stage, stage

TITLE: Final = "reconnects of all clients of a killed node within a second"
USUAL: Final = "1 minute"
BACK_SECONDS: Final = 5.0
STORM_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 60.0
AT_ONCE: Final = 100
GATHER_SECONDS: Final = 0.5
READS_PER_ROOM: Final = 6
"""Pages of a log, on each of the nodes that are left."""


async def run(order: Order) -> Outcome:
    watchers, storms = order.of(60, 1000), order.of(1, 3)
    size = Size(rooms=order.of(5, 20), keep=True)
    habits = Habits(think_seconds=0.3, retry_seconds=STORM_SECONDS)
    async with stage("connect_storm", order, size=size, habits=habits) as on:
        tables = tuple(on.crowd.tables.values())
        for number in range(watchers):
            tables[number % len(tables)].enter(on.crowd.token(), None, 0)
            if number % AT_ONCE == 0:
                await asyncio.sleep(GATHER_SECONDS)
        back: list[float] = []
        reads = 0
        shown = on.progress(storms)
        for storm in range(1, storms + 1):
            # Nobody else has the rooms in memory: they have to be read from the store.
            everybody = list(on.crowd)
            await _gather_at(everybody, 0)
            await asyncio.gather(*(_restart(node) for node in on.rig.nodes[1:]))
            reads_before = await _reads(on)
            on.crowd.away.clear()
            await on.hit("kill_below_a_crowd", 0)
            await on.rig.nodes[0].kill()
            await _until(partial(_all_elsewhere, everybody))
            back += on.crowd.away
            reads = max(reads, await _reads(on) - reads_before)
            await on.rig.nodes[0].start()
            shown.show(storm)
        shown.done()
        return await on.finish(
            (
                Figure(
                    "kill to the welcome elsewhere, p99",
                    percentile(back, 0.99),
                    "s",
                    at_most=BACK_SECONDS,
                    note=f"{len(back)} reconnects in {storms} storms, most {max(back):.2f}",
                ),
                Figure(
                    "reads of logs in a storm, most",
                    reads,
                    "",
                    at_most=2 * READS_PER_ROOM * len(on.crowd.tables),
                    note=f"{len(on.crowd.tables)} rooms, {watchers} watchers",
                ),
            )
        )


def _all_elsewhere(crowd: list[Player]) -> bool:
    return all(player.up and player.at for player in crowd)


async def _restart(node: Node) -> None:
    await node.kill()
    await node.start()


async def _gather_at(crowd: list[Player], at: int) -> None:
    """Everybody goes to that node, a few at a time."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while away := [p for p in crowd if not p.up or p.at != at]:
            for player in away[:AT_ONCE]:
                player.wish = at
                if player.at != at:
                    player.drop()
            await asyncio.sleep(GATHER_SECONDS)


async def _until(condition: Any) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110 - looked at now and then
            await asyncio.sleep(0.02)


async def _reads(on: Stage) -> int:
    async with on.rig.store.client() as redis:
        stats: Any = await redis.info("commandstats")
    return int(stats.get("cmdstat_xrange", {}).get("calls", 0))
