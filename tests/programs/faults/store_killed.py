"""The store's engine is killed under load and comes back after a while.

Connections stay, unless their server asks clients to try another; players are told that the room
stands still, keep what they sent, and go on soon after the store does.
"""

import asyncio
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, stage

TITLE: Final = "kill -9 of the store's engine under load"
USUAL: Final = "4 minutes"
DOWN_SECONDS: Final = (1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 5, 5, 5, 8, 8, 10, 15, 20, 30)
WRITABLE_SECONDS: Final = 3.0
AFTER_SECONDS: Final = 3.5
SHORT_AFTER_SECONDS: Final = 1.5


async def run(order: Order) -> Outcome:
    downs = [1] if order.short else list(DOWN_SECONDS)
    Random(order.seed).shuffle(downs)
    async with stage("store_killed", order) as on:
        shown = on.progress(len(downs))
        for number, seconds in enumerate(downs, start=1):
            await on.hit("kill_store")
            await on.rig.store.kill()
            await asyncio.sleep(seconds)
            await on.rig.store.start()
            on.crowd.strike()
            await asyncio.sleep(SHORT_AFTER_SECONDS if order.short else AFTER_SECONDS)
            shown.show(number)
        shown.done()
        crowd = on.crowd
        players = crowd.everybody
        dropped = sum(player.dropped for player in players)
        paused = sum(player.pauses > 0 for player in players)
        return await on.finish(
            (
                Figure(
                    "connections dropped",
                    dropped,
                    "",
                    at_most=0,
                    note=f"of {len(players)} in {len(downs)} kills; not counted: asked to go",
                ),
                Figure(
                    "players told of a pause", paused, "", at_least=1, note=f"of {len(players)}"
                ),
                Figure(
                    "store answers to the room's next move, most",
                    max(crowd.back_after, default=float("inf")),
                    "s",
                    at_most=WRITABLE_SECONDS,
                    note=f"{len(crowd.back_after)} rooms,"
                    f" down {min(downs)} to {max(downs)} s, {len(downs)} times",
                ),
            )
        )
