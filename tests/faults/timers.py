"""Row 13: nodes are killed around the moment at which somebody's time is up.

The default move is made once, never early, and not much late: by whoever is left.
"""

import asyncio
from random import Random
from typing import Final

from tests.bench.report import Figure
from tests.faults.crowd import Crowd, Size
from tests.faults.players import Habits
from tests.faults.report import Outcome, percentile
from tests.faults.stage import Order, stage

TITLE: Final = "kill -9 of a random node around deadlines"
USUAL: Final = "7 minutes"
TURN_SECONDS: Final = 5
NEAR_SECONDS: Final = 0.15
"""A kill counts if somebody's time is up so close to it."""
LATE_SECONDS: Final = 5.0
END_SECONDS: Final = 60.0


async def run(order: Order) -> Outcome:
    kills = order.of(3, 200)
    chance = Random(order.seed)
    size = Size(rooms=order.of(12, 40), seats=2, turn_seconds=TURN_SECONDS)
    async with stage("timers", order, size=size, habits=Habits(plays=False)) as on:
        shown = on.progress(kills)
        for kill in range(1, kills + 1):
            at = chance.randrange(len(on.rig.nodes))
            offset = NEAR_SECONDS * (chance.random() - 0.5)
            while not _near(on.crowd, offset, 0.01):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            on.history.fault("kill", _near(on.crowd, 0.0, NEAR_SECONDS))
            await on.rig.nodes[at].kill()
            await asyncio.sleep(0.2 * chance.random())
            await on.rig.nodes[at].start()
            shown.show(kill)
        shown.done()
        await _play_to_the_end(on.crowd)
        outcome = await on.finish()
        late = [ms / 1000 for ms in on.late_ms]
        return outcome.with_figures(
            (
                Figure("timeouts", len(late), "", at_least=kills),
                Figure(
                    "lateness of a timeout, p99",
                    percentile(late, 0.99),
                    "s",
                    at_most=LATE_SECONDS,
                    note=f"median {percentile(late, 0.5):.2f}, most {max(late, default=0):.2f};"
                    f" 0 early in {len(late)}, else it is a violation",
                ),
            )
        )


def _near(crowd: Crowd, offset: float, width: float) -> int:
    """How many rooms have a deadline at that distance from now."""
    now = asyncio.get_running_loop().time()
    newest = (max(p.frame_at for p in t.players) for t in crowd.tables.values() if not t.over)
    return sum(abs(frame_at + TURN_SECONDS - now - offset) < width for frame_at in newest)


async def _play_to_the_end(crowd: Crowd) -> None:
    """A room in which time runs is never quiet."""
    crowd.closing, crowd.habits = True, Habits(think_seconds=0.01)
    async with asyncio.timeout(END_SECONDS):
        while not all(table.over for table in crowd.tables.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
