"""Clients with eight commands under way change servers while store or server stand still.

What the old server had asked of the store is done when it goes on. The frames reach the client at
the new server, which has the same commands in hand. No client that counts by the protocol is told
of too many, and every command has its answer soon.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import CrowdTable, Size
from tests.programs.faults.eager import Eager
from tests.programs.faults.habits import Habits
from tests.programs.faults.report import Outcome
from tests.programs.faults.rig import Running
from tests.programs.faults.stage import Order, Stage, stage
from towerhall_client.http import Service
from towerhall_protocol.replay import MOST_UNANSWERED

TITLE: Final = "a change of servers with eight commands under way"
USUAL: Final = "1 minute"
COMMANDS: Final = 40
"""Of one client. The room takes sixty such changes of a person without a rest."""
UNDER_WAY_SECONDS: Final = 0.1
STILL_SECONDS: Final = 0.8
ANSWER_SECONDS: Final = 5.0
PATIENCE_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.01


async def run(order: Order) -> Outcome:
    changes, clients = order.of(2, 24), order.of(2, 6)
    chance = Random(order.seed)
    size = Size(rooms=order.of(3, 6))
    habits = Habits(think_seconds=0.1, retry_seconds=0.1, retry_most_seconds=0.3)
    async with stage("hung_command", order, size=size, habits=habits) as on:
        shown = on.progress(changes)
        slowest: list[float] = []
        turned_away = 0
        for number in range(changes):
            at = chance.randrange(len(on.rig.nodes))
            eager = [await _enter(on, at, chance) for _ in range(clients)]
            await _until(partial(_have_sat_down, eager))
            kind, stands = _KINDS[number % len(_KINDS)]
            slowest.append(await _change(on, eager, kind, stands(on, at)))
            turned_away += sum(len(each.turned_away) for each in eager)
            shown.show(number + 1)
        shown.done()
        note = f"{changes * clients} clients with {MOST_UNANSWERED} commands under way each"
        return await on.finish(
            (
                Figure("commands called one too many", turned_away, "", at_most=0, note=note),
                Figure(
                    "all goes on to the last answer, most",
                    max(slowest),
                    "s",
                    at_most=ANSWER_SECONDS,
                    note=f"{changes} times {clients * COMMANDS} commands",
                ),
            )
        )


_KINDS: Final[tuple[tuple[str, Callable[[Stage, int], Running]], ...]] = (
    ("store_stands_still", lambda on, at: on.rig.store),
    ("node_stands_still", lambda on, at: on.rig.nodes[at]),
)


async def _enter(on: Stage, at: int, chance: Random) -> Eager:
    """A client in a room of its own, at that node."""
    host = on.crowd.token("Eager")
    made = await Service(f"http://{on.rig.nodes[at].address}").create_room(host, "five_towers")
    table = on.crowd.tables[made.code] = CrowdTable(on.crowd, made.code, chance)
    return table.enter_as(Eager, host, 0, at)


def _have_sat_down(eager: list[Eager]) -> bool:
    return all(each.has_sat_down for each in eager)


def _are_done(eager: list[Eager]) -> bool:
    return all(each.is_done for each in eager)


async def _change(on: Stage, eager: list[Eager], kind: str, stands: Running) -> float:
    """Seconds from the moment in which all goes on to the last answer."""
    stands.pause()
    try:
        for each in eager:
            each.press(COMMANDS)
        await asyncio.sleep(UNDER_WAY_SECONDS)
        on.fault(kind)
        for each in eager:
            assert each.in_flight == MOST_UNANSWERED
            each.wish = (each.at + 1) % len(on.rig.nodes)
            each.drop()
        await asyncio.sleep(STILL_SECONDS)
    finally:
        stands.resume()
    began = asyncio.get_running_loop().time()
    await _until(partial(_are_done, eager))
    return asyncio.get_running_loop().time() - began


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_so():  # noqa: ASYNC110 - looked at now and then
            await asyncio.sleep(LOOK_SECONDS)
