"""The primary of the store dies, and its replica, which lags behind, takes its place.

What the replica lacks was acknowledged. Nodes that live put it back; where none lives that has it,
every client is told how much is lost.
"""

import asyncio
from collections import Counter
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.history import Fault, Sync
from tests.programs.faults.report import Outcome
from tests.programs.faults.rig import Store
from tests.programs.faults.stage import Order, Stage, stage
from tests.proxy.faults import FaultProxy

TITLE: Final = "the primary is killed, and a replica that lags takes its place"
USUAL: Final = "1 minute"
LAG_SECONDS: Final = 0.4
AFTER_SECONDS: Final = 2.0
SHORT_AFTER_SECONDS: Final = 0.8
KILLING: Final = "failover_and_kill_nodes"
KINDS: Final = ("failover", KILLING, "failover_in_step")
"""With nodes that can put back what the replica lacks; with none; with a replica that lacks next to
nothing."""


async def run(order: Order) -> Outcome:
    failovers = order.of(2, 18)
    chance = Random(order.seed)
    size = Size(rooms=order.of(5, 8), keep=True)
    habits = Habits(think_seconds=0.08, retry_most_seconds=1.0)
    async with stage("replica_failover", order, size=size, habits=habits, proxied=True) as on:
        shown = on.progress(failovers)
        for number in range(failovers):
            lag = LAG_SECONDS * (0.5 + chance.random())
            await _fail_over(on, number, KINDS[number % len(KINDS)], lag)
            await asyncio.sleep(SHORT_AFTER_SECONDS if order.short else AFTER_SECONDS)
            shown.show(number + 1)
        shown.done()
        told = _told(on)
        at_live = sum(told[kind] for kind in KINDS if kind != KILLING)
        ends = "".join(node.log for node in on.rig.nodes).count("the log ends at")
        figures = (
            Figure("logs that were found shorter", ends, "", at_least=1),
            Figure("reports of loss though a node held it", at_live, "", at_most=0),
            Figure("reports of loss after the nodes died", told[KILLING], "", at_least=1),
        )
        return await on.finish(figures)


def _told(on: Stage) -> Counter[str]:
    """How many reports of lost commits came after faults of each kind."""
    clients = [each for every in on.history.recorders.values() for each in every]
    reports = [e.tick for c in clients for e in c.entries if isinstance(e, Sync) and e.lost]
    faults = on.history.faults
    return Counter(max((f for f in faults if f.tick < tick), key=_tick).kind for tick in reports)


def _tick(fault: Fault) -> int:
    return fault.tick


async def _fail_over(on: Stage, number: int, kind: str, lag_seconds: float) -> None:
    """The replica becomes the store of the rig; the old one is what was discarded."""
    primary = on.rig.store
    async with FaultProxy(primary.port) as link:
        replica = Store(on.rig.folder / f"replica{number}", follows=link.port)
        try:
            await replica.start()
            await replica.in_step()
            if kind != "failover_in_step":
                link.hold()
                await asyncio.sleep(lag_seconds)
            tick = await on.hit(kind)
            await primary.kill()
            dead = on.rig.nodes if kind == KILLING else []
            await asyncio.gather(*(node.kill() for node in dead))
            link.reset()
            await replica.promote()
        except BaseException:
            await replica.kill()
            raise
    on.losses.append(tick)
    on.discarded.append(primary.folder)
    on.rig.store = replica
    for way in on.rig.ways:
        way.lead_to(replica.port)
    await asyncio.gather(*(node.start() for node in dead))
