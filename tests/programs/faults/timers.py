"""Nodes are killed around the moment at which somebody's time is up.

The default move is made once, never early, and not much late: by whoever is left.
"""

import asyncio
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Crowd, Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.stage import Order, Stage, stage

TITLE: Final = "kill -9 of a random node around deadlines"
USUAL: Final = "8 minutes"
TURN_SECONDS: Final = 5
NEAR_SECONDS: Final = 0.15
"""A kill counts if somebody's time is up so close to it."""
LATE_SECONDS: Final = 6.0
"""Nodes with somebody in the room take turns for 2 s; the store's index wakes others after 3 s."""
ABSENT_SECONDS: Final = 7.0
END_SECONDS: Final = 60.0


async def run(order: Order) -> Outcome:
    kills = order.of(1, 200)
    chance = Random(order.seed)
    size = Size(rooms=order.of(4, 40), seats=2, turn_seconds=TURN_SECONDS)
    async with stage("timers", order, size=size, habits=Habits(plays=False)) as on:
        shown = on.progress(kills)
        for kill in range(1, kills + 1):
            at = chance.randrange(len(on.rig.nodes))
            offset = NEAR_SECONDS * (chance.random() - 0.5)
            await asyncio.sleep(min(d for d in _distances(on.crowd, offset) if d > 0))
            near = sum(abs(distance) < NEAR_SECONDS for distance in _distances(on.crowd))
            on.history.fault("kill", near)
            if kill % order.of(1, 20) == 0:
                await _kill_all(on, chance)
            else:
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
                    "lateness of a timeout, most",
                    max(late, default=float("inf")),
                    "s",
                    at_most=LATE_SECONDS,
                    note=f"median {percentile(late, 0.5):.2f}, p99 {percentile(late, 0.99):.2f};"
                    f" 0 early in {len(late)}, else it is a violation",
                ),
            )
        )


async def _kill_all(on: Stage, chance: Random) -> None:
    """All nodes, while nobody comes back to one of the rooms: only the store knows its deadline."""
    games = [table for table in on.crowd.tables.values() if not table.over]
    left = chance.choice(games)
    for player in left.players:
        player.stay_away()
    await asyncio.gather(*(node.kill() for node in on.rig.nodes))
    await asyncio.gather(*(node.start() for node in on.rig.nodes))
    await asyncio.sleep(ABSENT_SECONDS)
    for player in left.players:
        player.come_back()


def _distances(crowd: Crowd, offset: float = 0.0) -> list[float]:
    """How long it takes until so long after the next deadline of each room."""
    since = asyncio.get_running_loop().time() - TURN_SECONDS - offset
    newest = (max(p.frame_at for p in t.players) for t in crowd.tables.values() if not t.over)
    return [frame_at - since for frame_at in newest]


async def _play_to_the_end(crowd: Crowd) -> None:
    """A room in which time runs is never quiet."""
    crowd.closing, crowd.habits = True, Habits(think_seconds=0.002)
    for player in crowd:
        player.think()
    async with asyncio.timeout(END_SECONDS):
        while not all(table.over for table in crowd.tables.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
