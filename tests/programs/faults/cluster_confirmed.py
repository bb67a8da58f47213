"""Primaries of a cluster are killed or paused, replication lags, and moves wait for a replica.

No acknowledged move may be lost, and nobody may be told of a loss: nothing is noted as lost here.
What lags is lost with the primary. A primary that was paused wakes as soon as it was replaced, and
must not acknowledge a move.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.cluster_primary_killed import KINDS, Waits, figures, harmed
from tests.programs.faults.history import Sync
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, Stage, stage
from tests.store.several import Group, cluster_of

TITLE: Final = "a lagging cluster loses no move that a replica has confirmed"
USUAL: Final = "4 minutes"
LAG_SECONDS: Final = 0.05
AFTER_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.02


async def run(order: Order) -> Outcome:
    kills = order.of(2, 24)
    waits = Waits()
    async with stage("cluster_confirmed", order, several=_confirming) as on:
        shown = on.progress(kills)
        for number in range(kills):
            kind = tuple(KINDS)[number % len(KINDS)]
            async with harmed(on, number, kind, waits) as replaced:
                while not await replaced():  # noqa: ASYNC110 - states of processes
                    await asyncio.sleep(LOOK_SECONDS)
            await asyncio.sleep(AFTER_SECONDS)
            shown.show(number + 1)
        shown.done()
        outcome = await on.finish(figures(on, kills, waits))
    return outcome.with_figures((reports_of_loss(on, kills),))


def reports_of_loss(on: Stage, kills: int) -> Figure:
    """How often a client was told that moves are gone."""
    clients = [each for every in on.history.recorders.values() for each in every]
    told = sum(isinstance(entry, Sync) and entry.lost > 0 for c in clients for entry in c.entries)
    return Figure("reports of loss", told, "", at_most=0, note=f"{kills} primaries")


@contextmanager
def _confirming(kind: str, folder: Path) -> Iterator[Group]:
    with cluster_of(kind, folder, lag_seconds=LAG_SECONDS) as group:
        group.url += "?wait=1"
        yield group
