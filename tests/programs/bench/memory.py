"""What an open room of four costs in memory, with its four sockets, in the middle of its game."""

from statistics import median

from tests.programs.bench.driving import driven
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import towerhall
from tests.programs.bench.usage import refuse_other_systems
from towerhall_server.cli.progress import progress

ROOMS = 200
REPEATS = 5
PRIMER = 20
"""Rooms that are there before: what the first ones make the server load is not theirs."""
BAR_KB = 90


def measure() -> list[Figure]:
    """Resident memory of the server process; what the kernel holds for sockets is not in it."""
    refuse_other_systems()
    sizes = list(progress(map(_size_kb, range(REPEATS)), REPEATS, "memory"))
    note = f"{span(sizes, 1)} with {ROOMS} rooms, spread over their games"
    return [Figure("room with its four sockets", median(sizes), "KB", BAR_KB, note=note)]


def _size_kb(number: int) -> float:
    with towerhall() as server, driven(server, ROOMS, primer=PRIMER, seed=number + 1) as load:
        return (load.ready.rss_after - load.ready.rss_before) / ROOMS / 1000
