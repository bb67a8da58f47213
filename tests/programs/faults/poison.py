"""The rules throw. In a decision: the command is refused. In a replay: the node leaves the
room to others. Neither reaches another room.
"""

import asyncio
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Size
from tests.programs.faults.history import Reject
from tests.programs.faults.poisoned_node import is_poisoned
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, stage

TITLE: Final = "exceptions in decisions and in replay"
USUAL: Final = "1 minute"
DECIDE: Final = 0.05
REPLAY: Final = 3
LAUNCH: Final = ("-m", "tests.programs.faults.poisoned_node")


async def run(order: Order) -> Outcome:
    seconds = order.of(3, 40)
    told = {
        0: {"POISON_REPLAY": str(REPLAY)},
        1: {"POISON_DECIDE": str(DECIDE)},
        2: {"POISON_DECIDE": str(DECIDE)},
    }
    size = Size(rooms=order.of(8, 12))
    async with stage("poison", order, size=size, nodes=len(told), launch=LAUNCH, told=told) as on:
        on.allow_exceptions = True
        shown = on.progress(seconds)
        for second in range(1, seconds + 1):
            await on.hit("second_of_poison")
            await asyncio.sleep(1)
            shown.show(second)
        shown.done()
        players = on.crowd.everybody
        entries = [entry for player in players for entry in player.recorder.entries]
        refused = sum(isinstance(e, Reject) and e.code == "poisoned" for e in entries)
        sick = [p for p in players if is_poisoned(p.table.code, REPLAY)]
        healthy = [p for p in players if not is_poisoned(p.table.code, REPLAY)]
        left = sum(player.dropped for player in sick)
        dropped = sum(player.dropped for player in healthy)
        return await on.finish(
            (
                Figure("commands refused as poisoned", refused, "", at_least=1),
                Figure(
                    "sent on to other nodes from sick rooms",
                    left,
                    "",
                    at_least=1,
                    note=f"{len(sick)} players",
                ),
                Figure(
                    "dropped in healthy rooms",
                    dropped,
                    "",
                    at_most=0,
                    note=f"of {len(healthy)} players",
                ),
            )
        )
