"""Every second reply of the store is lost after the request was done.

Whoever asks again finds what was done: as many commits as distinct commands, exactly.
"""

import asyncio
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.history import Ack
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, stage

TITLE: Final = "every second reply of the store is lost"
USUAL: Final = "1 minute"


async def run(order: Order) -> Outcome:
    seconds = order.of(2, 60)
    async with stage("reply_lost", order, proxied=True) as on:
        shown = on.progress(seconds)
        for way in on.rig.ways:
            way.lose_every = 2
        for second in range(1, seconds + 1):
            await on.hit("second_of_lost_replies")
            await asyncio.sleep(1)
            shown.show(second)
        shown.done()
        lost = sum(way.lost for way in on.rig.ways)
        for way in on.rig.ways:
            way.heal()
        clients = [each for every in on.history.recorders.values() for each in every]
        outcome = await on.finish()
        done = sum(len({e.n for e in c.entries if isinstance(e, Ack)}) for c in clients)
        figures = (
            Figure("replies lost", lost, "", at_least=20 * seconds / 3),
            Figure("commands acknowledged", done, "", note="each once in the log, see violations"),
        )
        return outcome.with_figures(figures)
