"""All logs are gone. Rooms are reported gone, and never made anew."""

import asyncio
from pathlib import Path
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, Stage, stage

TITLE: Final = "FLUSHALL under load"
USUAL: Final = "1 minute"
TOLD_SECONDS: Final = 8.0
PLAY_SECONDS: Final = 1.0
FLUSH: Final = b"*1\r\n$8\r\nFLUSHALL\r\n"


async def run(order: Order) -> Outcome:
    flushes = order.of(1, 5)
    async with stage("log_gone", order) as on:
        shown = on.progress(flushes)
        untold = 0
        for number in range(1, flushes + 1):
            tables = tuple(on.crowd.tables.values())
            await _flush(on, number)
            deadline = asyncio.get_running_loop().time() + TOLD_SECONDS
            while asyncio.get_running_loop().time() < deadline:
                if all(table.sent_away for table in tables):
                    break
                await asyncio.sleep(0.05)
            untold += sum(not p.sent_away for table in tables for p in table.players)
            await on.crowd.open()
            await asyncio.sleep(PLAY_SECONDS)
            shown.show(number)
        shown.done()
        players = sum(len(every) for every in on.history.recorders.values())
        note = f"of {players} players, within {TOLD_SECONDS:g} s"
        return await on.finish((Figure("players not told", untold, "", at_most=0, note=note),))


async def _flush(on: Stage, number: int) -> None:
    """The engine's own file tells what was there until then."""
    async with on.rig.store.client() as redis:
        await on.hot()
        tick = on.fault("flush")
        await redis.flushall()
    discarded = on.rig.folder / f"discarded{number}"
    on.rig.store.copy_to(discarded)
    _cut_off(discarded)
    on.losses.append(tick)
    on.discarded.append(discarded)


def _cut_off(folder: Path) -> None:
    """End the engine's file of commands before the last flush."""
    (path,) = folder.glob("appendonlydir/*.incr.aof")
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(FLUSH)])
