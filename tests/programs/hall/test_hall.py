"""The simulation in small: all that it drives is driven, and a step that takes long is seen."""

import asyncio
from pathlib import Path

from tests.programs.hall.__main__ import told
from tests.programs.hall.simulation import LIMIT_SECONDS, Wanted, simulate
from tests.programs.hall.watched_loop import WatchedLoop, watched_callbacks
from tests.store.engines import running

SMALL = Wanted(rooms=1_000, seconds=2.5, wakes=40, viewers=40, pages=8)


def test_a_server_with_many_rooms_never_stands_still(tmp_path: Path) -> None:
    with running("valkey", tmp_path) as engine:
        found = simulate(engine.url, SMALL)
    assert found.rooms > SMALL.rooms - 10
    assert found.listed == found.rooms
    assert found.ended > 0
    assert found.patches > SMALL.viewers
    # How long a collection of garbage takes depends on the tests that ran before.
    slow = [name for seconds, name in found.stalls.longest if seconds > LIMIT_SECONDS]
    assert [name for name in slow if name != "task sweep"] == [], told(found)


def test_a_callback_that_takes_long_is_seen() -> None:
    loop = WatchedLoop(0.001)

    async def idle() -> None:
        await asyncio.sleep(0)
        sum(range(1_000_000))

    with asyncio.Runner(loop_factory=lambda: loop) as runner, watched_callbacks(loop):
        runner.run(idle())
    assert loop.stalls.long_rounds > 0
    assert loop.stalls.longest_round >= loop.stalls.longest_callback > 0.001
    assert max(loop.stalls.longest)[1].endswith("idle")
