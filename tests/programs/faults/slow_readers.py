"""Peers that never read sit among those that do.

What waits for them is bounded, they are sent away, and nobody else notices.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.stage import Order, Stage, stage
from tests.programs.faults.stuck import Stuck, sent_away

TITLE: Final = "sockets that never read beside others"
USUAL: Final = "2 minutes"
MIB: Final = 1 << 20
MOST_MIB_EACH: Final = 0.4
"""The bound of a backlog is 0.25 MiB; the rest is for the connection and for the allocator."""
MOST_MIB_ANYWAY: Final = 30
WARM_SECONDS: Final = 10
"""After so many rooms were opened at once."""
SLOWER: Final = 2.0
FILLS: Final = 4
APART: Final = 10
"""Their questions are spread over so many moments."""
LEAST_MS: Final = 10.0
"""Below this a machine with other work on it cannot tell the difference."""


async def run(order: Order) -> Outcome:
    stuck_count, seconds = order.of(20, 200), order.of(1, 45)
    size = Size(rooms=order.of(6, 200))
    habits = Habits(think_seconds=0.1 if order.short else 1.0)
    async with stage("slow_readers", order, size=size, habits=habits) as on:
        shown = on.progress(2 * seconds)
        await asyncio.sleep(order.of(0, WARM_SECONDS))
        before = await _window(on, seconds, shown.show)
        rss_before = sum(node.rss for node in on.rig.nodes)
        stuck = await _enter(on, stuck_count, Random(order.seed))
        await _fill(stuck, order.of(1, 15))
        after = await _window(on, seconds, lambda done: shown.show(seconds + done))
        grown = (sum(node.rss for node in on.rig.nodes) - rss_before) / MIB
        closed = sent_away(stuck)
        shown.done()
        for each in stuck:
            each.close()
        normal = on.crowd.everybody
        dropped = sum(player.dropped for player in normal)
        ratio = max(after, LEAST_MS) / max(before, LEAST_MS)
        figures = [
            Figure(
                "memory of all nodes, growth",
                grown,
                "MiB",
                at_most=MOST_MIB_ANYWAY + MOST_MIB_EACH * stuck_count,
                note=f"{stuck_count} sockets that never read",
            ),
            Figure(
                "p99 of a move with them against without",
                ratio,
                "x",
                at_most=None if order.short else SLOWER,
                note=f"{before:.1f} and {after:.1f} ms, {len(list(on.crowd))} sockets that read",
            ),
            Figure("others dropped", dropped, "", at_most=0, note=f"of {len(normal)}"),
        ]
        if not order.short:
            share = closed / stuck_count
            figures.append(Figure("share of them sent away", share, "", at_least=0.9))
        return await on.finish(figures)


async def _enter(on: Stage, count: int, chance: Random) -> list[Stuck]:
    codes, addresses = list(on.crowd.tables), on.crowd.addresses()
    stuck = []
    for _ in range(count):
        await on.hit("stuck_reader")
        stuck.append(Stuck())
        await stuck[-1].enter(chance.choice(addresses), chance.choice(codes), on.crowd.token())
    return stuck


async def _fill(stuck: list[Stuck], seconds: int) -> None:
    """Have much sent to them, each asked for a few times. Then let the server have done it: making
    old frames costs it more than not being read does."""
    for part in range(FILLS * APART):
        for each in stuck[part % APART :: APART]:
            each.ask()
        await asyncio.sleep(seconds / FILLS / APART)
    await asyncio.sleep(seconds / 4)


async def _window(on: Stage, seconds: int, show: Callable[[int], None]) -> float:
    """The p99 of all moves in that time, in ms."""
    on.crowd.latencies.clear()
    for second in range(1, seconds + 1):
        await asyncio.sleep(1)
        show(second)
    return 1000 * percentile(on.crowd.latencies, 0.99)
