"""The primary behind sentinels is killed or paused under load, and a replica takes its place.

Replicas are in step but for the calls under way, and nodes put back what is missing.
"""

import asyncio
from time import monotonic
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.stage import Order, Stage, stage
from tests.store.several import SENTINELS_DOWN_MS, Engine, behind_sentinels

TITLE: Final = "sentinels replace a primary that was killed or paused"
USUAL: Final = "1 minute"
KINDS: Final = {"kill_primary": Engine.kill, "pause_primary": Engine.pause}
ELECTED_SECONDS: Final = 20.0
AFTER_SECONDS: Final = 1.0
HARMED_SECONDS: Final = 4.0
"""Nodes have left it by then. An old primary that woke earlier would acknowledge what it loses as
soon as it is a replica."""
BACK_SECONDS: Final = SENTINELS_DOWN_MS / 1000 + 2.0
"""Sentinels notice silence, elect, and look once a second whether the engine obeys."""


async def run(order: Order) -> Outcome:
    failovers = order.of(1, 6)
    async with stage("sentinel_failover", order, several=behind_sentinels) as on:
        shown = on.progress(failovers)
        for number in range(failovers):
            await fail_over(on, tuple(KINDS)[number % len(KINDS)], HARMED_SECONDS)
            shown.show(number + 1)
        shown.done()
        return await on.finish(figures(on, failovers))


def figures(on: Stage, failovers: int, back_seconds: float = BACK_SECONDS) -> tuple[Figure, ...]:
    """Who was told of a pause, and how long rooms waited."""
    players, back = on.crowd.everybody, on.crowd.back_after
    paused = sum(player.pauses > 0 for player in players)
    return (
        Figure("players told of a pause", paused, "", at_least=1, note=f"of {len(players)}"),
        Figure(
            "fault to the room's next move, most",
            max(back, default=float("inf")),
            "s",
            at_most=back_seconds,
            note=f"{len(back)} rooms, {failovers} failovers, p50 {percentile(back, 0.5):.2f} s",
        ),
    )


async def fail_over(on: Stage, kind: str, at_least_seconds: float = 0.0) -> None:
    """Harm the primary, until it was replaced and for that time at least."""
    await on.crowd.recovered()
    group = on.rig.group
    primary = next(each for each in group.engines if each.port == group.elected)
    await on.hit(kind)
    KINDS[kind](primary)
    group.cut(primary.port)
    on.crowd.strike()
    over_at = monotonic() + at_least_seconds
    try:
        async with asyncio.timeout(ELECTED_SECONDS):
            while await asyncio.to_thread(lambda: group.elected) == primary.port:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await asyncio.sleep(over_at - monotonic())
    finally:
        if kind == "pause_primary":
            primary.resume()
    # At once: sentinels take an old primary that woke for a replica that has everything.
    await group.whole()
    await asyncio.sleep(AFTER_SECONDS)
