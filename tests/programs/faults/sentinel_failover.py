"""The primary behind sentinels is killed or paused under load, and a replica takes its place.

Replicas are in step but for the calls under way, and nodes put back what is missing.
"""

import asyncio
from time import monotonic
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, Stage, stage
from tests.store.several import Engine, behind_sentinels

TITLE: Final = "sentinels replace a primary that was killed or paused"
USUAL: Final = "1 minute"
KINDS: Final = {"kill_primary": Engine.kill, "pause_primary": Engine.pause}
ELECTED_SECONDS: Final = 20.0
AFTER_SECONDS: Final = 1.0
PAUSE_SECONDS: Final = 4.0
BACK_SECONDS: Final = 8.0
"""Silence is noticed after 0.7 s; sentinels and the connection's timeout take the rest."""


async def run(order: Order) -> Outcome:
    failovers = order.of(1, 6)
    async with stage("sentinel_failover", order, several=behind_sentinels) as on:
        shown = on.progress(failovers)
        for number in range(failovers):
            await _fail_over(on, tuple(KINDS)[number % len(KINDS)])
            shown.show(number + 1)
        shown.done()
        players = on.crowd.everybody
        paused = sum(player.pauses > 0 for player in players)
        return await on.finish(
            (
                Figure(
                    "players told of a pause", paused, "", at_least=1, note=f"of {len(players)}"
                ),
                Figure(
                    "fault to the room's next move, most",
                    max(on.crowd.back_after, default=float("inf")),
                    "s",
                    at_most=BACK_SECONDS,
                    note=f"{len(on.crowd.back_after)} rooms, {failovers} failovers",
                ),
            )
        )


async def _fail_over(on: Stage, kind: str) -> None:
    group = on.rig.group
    (primary,) = await asyncio.to_thread(lambda: group.primaries)
    await on.hit(kind)
    KINDS[kind](primary)
    on.crowd.strike()
    # Nodes give a connection up by then. An old primary that woke earlier would acknowledge what it
    # loses as soon as it is a replica.
    over_at = monotonic() + (PAUSE_SECONDS if kind == "pause_primary" else AFTER_SECONDS)
    try:
        async with asyncio.timeout(ELECTED_SECONDS):
            while await asyncio.to_thread(lambda: group.elected) == primary.port:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await asyncio.sleep(max(AFTER_SECONDS, over_at - monotonic()))
    finally:
        if kind == "pause_primary":
            primary.resume()
    await group.whole()
