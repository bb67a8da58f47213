"""Row 6: the store comes back as an older copy of itself, as after a failover.

A node that still has what is missing puts it back. Where none has, or the log went on otherwise,
every client is told; nobody is moved to another past in silence, and no log forks.
"""

import asyncio
from random import Random
from typing import Final

from tests.bench.report import Figure
from tests.faults.crowd import Size
from tests.faults.habits import Habits
from tests.faults.history import Sync
from tests.faults.report import Outcome
from tests.faults.stage import Order, Stage, stage

TITLE: Final = "an older copy of the store is restored under load"
USUAL: Final = "3 minutes"
AFTER_SECONDS: Final = 3.0
SHORT_AFTER_SECONDS: Final = 1.5


async def run(order: Order) -> Outcome:
    restores = order.of(2, 20)
    chance = Random(order.seed)
    size = Size(rooms=order.of(6, 8), keep=True)
    habits = Habits(think_seconds=0.08, retry_most_seconds=1.0)
    async with stage("tail_lost", order, size=size, habits=habits) as on:
        shown = on.progress(restores)
        for number in range(1, restores + 1):
            # Every second time the nodes die with it, so that nobody can put anything back.
            await _go_back(on, number, 0.3 + 1.5 * chance.random(), nodes_too=number % 2 == 0)
            await asyncio.sleep(SHORT_AFTER_SECONDS if order.short else AFTER_SECONDS)
            shown.show(number)
        shown.done()
        clients = [each for every in on.history.recorders.values() for each in every]
        told = [e.lost for c in clients for e in c.entries if isinstance(e, Sync) and e.lost]
        figures = (
            Figure(
                "reports of lost commits", len(told), "", at_least=1, note=f"{sum(told)} commits"
            ),
        )
        return await on.finish(figures)


async def _go_back(on: Stage, number: int, seconds: float, *, nodes_too: bool) -> None:
    store = on.rig.store
    copy, discarded = on.rig.folder / f"copy{number}", on.rig.folder / f"discarded{number}"
    store.copy_to(copy)
    await asyncio.sleep(seconds)
    await on.hot()
    tick = on.fault("go_back_and_kill_nodes" if nodes_too else "go_back")
    await store.kill()
    if nodes_too:
        await asyncio.gather(*(node.kill() for node in on.rig.nodes))
    store.copy_to(discarded)
    store.become(copy)
    on.losses.append(tick)
    on.discarded.append(discarded)
    await store.start()
    if nodes_too:
        await asyncio.gather(*(node.start() for node in on.rig.nodes))
