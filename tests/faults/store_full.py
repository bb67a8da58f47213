"""The store has no memory left and refuses to write.

Rooms stand still, nothing is written in part, and all goes on when there is room again.
"""

import asyncio
from typing import Final

from tests.bench.report import Figure
from tests.faults.report import Outcome
from tests.faults.stage import Order, Stage, stage

TITLE: Final = "maxmemory of the store is reached under load"
USUAL: Final = "1 minute"
FULL_SECONDS: Final = 2.0
SHORT_FULL_SECONDS: Final = 1.0
AFTER_SECONDS: Final = 3.5
SHORT_AFTER_SECONDS: Final = 1.5
WRITABLE_SECONDS: Final = 3.0


async def run(order: Order) -> Outcome:
    times = order.of(1, 10)
    async with stage("store_full", order) as on:
        shown = on.progress(times)
        for number in range(1, times + 1):
            await on.hit("full")
            await _limit(on, 1)
            await asyncio.sleep(SHORT_FULL_SECONDS if order.short else FULL_SECONDS)
            await _limit(on, 0)
            on.crowd.strike()
            await asyncio.sleep(SHORT_AFTER_SECONDS if order.short else AFTER_SECONDS)
            shown.show(number)
        shown.done()
        players, back = on.crowd.everybody, on.crowd.back_after
        dropped = sum(player.dropped for player in players)
        paused = sum(player.pauses > 0 for player in players)
        note = f"of {len(players)}, in {times} times"
        return await on.finish(
            (
                Figure("connections dropped", dropped, "", at_most=0, note=note),
                Figure("players told of a pause", paused, "", at_least=1, note=note),
                Figure(
                    "space again to the room's next move, most",
                    max(back, default=float("inf")),
                    "s",
                    at_most=WRITABLE_SECONDS,
                    note=f"{len(back)} rooms",
                ),
            )
        )


async def _limit(on: Stage, most: int) -> None:
    async with on.rig.store.client() as redis:
        await redis.config_set("maxmemory", most)
