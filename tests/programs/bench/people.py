"""What open rooms cost whose players think: 1,500 rooms with a move every 5 s in each.

All rooms stay open in one server, and all repeats play in them. Unlike other parts this one counts
all that server and store do meanwhile, and not only moves: timers, beats, and wakes for few moves.
"""

from collections.abc import Sequence
from statistics import median
from typing import Final

from tests.programs.bench.driving import disturbed, driven, spares_for
from tests.programs.bench.load import Step, Window
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import towerhall
from tests.programs.bench.usage import refuse_other_systems
from towerhall_server.cli.progress import progress

ROOMS: Final = 1_500
REPEATS: Final = 5
SECONDS_PER_MOVE: Final = 5
"""Seconds from one move to the next in each room."""
MEASURED_SECONDS: Final = 10
SPREAD: Final = 45
"""No game ends within the repeats."""
CORE_BAR: Final = 0.15


def measure() -> list[Figure]:
    """The share of a core that server and store use for all of these rooms."""
    return figures(run_windows(ROOMS, REPEATS, MEASURED_SECONDS))


def run_windows(rooms: int, repeats: int, seconds: int) -> list[Window]:
    refuse_other_systems()
    rate = rooms // SECONDS_PER_MOVE
    step = Step("people", moves=(seconds + 1) * rate, warm_up=rate, rate=rate)
    # Few games of a small load have their share of all moves only.
    spares = spares_for(repeats * step.moves) if rooms < ROOMS else 0
    with towerhall() as server, driven(server, rooms, spares=spares, spread=SPREAD) as load:
        return list(progress((load.play(step) for _ in range(repeats)), repeats, "people"))


def figures(windows: Sequence[Window]) -> list[Figure]:
    servers = [window.server_cpu / window.seconds for window in windows]
    stores = [window.store_cpu / window.seconds for window in windows]
    both = [server + store for server, store in zip(servers, stores, strict=True)]
    per_move = [(window.server_cpu + window.store_cpu) / window.moves * 1e6 for window in windows]
    name = f"server and store, {ROOMS:,} rooms at people's pace"
    void = disturbed(windows)
    return [
        Figure(name, median(both), "cores", CORE_BAR, note=span(both, 3), void=void),
        Figure("  server", median(servers), "cores", note=span(servers, 3)),
        Figure("  store", median(stores), "cores", note=span(stores, 3)),
        Figure("  for a move", median(per_move), "us", note=span(per_move, 0)),
    ]
