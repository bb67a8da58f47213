"""Primaries of a cluster are killed while replication lags, and nobody waits for replicas.

What a replica lacks was acknowledged. Nodes that have the room open put it back, or tell each
client how much is gone.
"""

import asyncio
import shutil
from functools import partial
from typing import Final

from tests.programs.faults.cluster_confirmed import AFTER_SECONDS, LAG_SECONDS, LOOK_SECONDS
from tests.programs.faults.cluster_primary_killed import Waits, figures, harmed
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, stage
from tests.store.several import cluster_of

TITLE: Final = "primaries of a lagging cluster are killed, and nodes put moves back"
USUAL: Final = "4 minutes"


async def run(order: Order) -> Outcome:
    kills = order.of(1, 20)
    waits = Waits()
    lagging = partial(cluster_of, lag_seconds=LAG_SECONDS)
    async with stage("cluster_lag", order, several=lagging) as on:
        shown = on.progress(kills)
        for number in range(kills):
            async with harmed(on, number, "kill_primary", waits) as replaced:
                tick = on.history.faults[-1].tick
                (dead,) = (each for each in on.rig.group.engines if not each.is_running)
                kept = on.order.folder / f"dead{number}"
                await asyncio.to_thread(shutil.copytree, dead.folder, kept)
                on.losses.append(tick)
                on.discarded.append(kept)
                while not await replaced():  # noqa: ASYNC110 - states of processes
                    await asyncio.sleep(LOOK_SECONDS)
            await asyncio.sleep(AFTER_SECONDS)
            shown.show(number + 1)
        shown.done()
        return await on.finish(figures(on, kills, waits))
