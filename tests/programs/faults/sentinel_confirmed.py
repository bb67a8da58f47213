"""The primary behind sentinels is killed or paused, replication lags, and moves wait for a replica.

What lags is lost with the primary. No acknowledged move may be lost, and no client may be told of a
loss: nothing is noted as lost here. A primary that was paused wakes as soon as it was replaced, and
must not acknowledge a move.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.programs.faults import sentinel_failover
from tests.programs.faults.cluster_confirmed import LAG_SECONDS, reports_of_loss
from tests.programs.faults.report import Outcome
from tests.programs.faults.sentinel_failover import KINDS, fail_over, figures
from tests.programs.faults.stage import Order, stage
from tests.store.several import Group, behind_sentinels

TITLE: Final = "behind sentinels no move is lost that a replica has confirmed"
USUAL: Final = "2 minutes"
REPLICAS: Final = 2
"""All of them confirm: sentinels may elect one that has less than another."""
BACK_SECONDS: Final = sentinel_failover.BACK_SECONDS + 1.0
"""The old primary has to come back first, as a replica that confirms."""


async def run(order: Order) -> Outcome:
    failovers = order.of(2, 20)
    async with stage("sentinel_confirmed", order, several=_confirming) as on:
        shown = on.progress(failovers)
        for number in range(failovers):
            await fail_over(on, tuple(KINDS)[number % len(KINDS)])
            shown.show(number + 1)
        shown.done()
        outcome = await on.finish(figures(on, failovers, BACK_SECONDS))
    return outcome.with_figures((reports_of_loss(on, failovers),))


@contextmanager
def _confirming(kind: str, folder: Path) -> Iterator[Group]:
    with behind_sentinels(kind, folder, replicas=REPLICAS, lag_seconds=LAG_SECONDS) as group:
        group.url += f"?wait={REPLICAS}"
        yield group
