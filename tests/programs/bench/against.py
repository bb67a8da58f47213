"""This tree against another checkout of it, by turns: what a change costs a move, or saves it.

Both servers are alive together, each with its own store and its own load, and short windows
alternate between them (see `alternating`). The load is this tree's, so both have to speak its
protocol. Both run in this interpreter with the libraries of this tree.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median

from tests.programs.bench.alternating import alternated
from tests.programs.bench.driving import disturbed, driven, spares_for
from tests.programs.bench.load import Window
from tests.programs.bench.moves import REPEATS, ROOMS, SATURATED, STEADY
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import towerhall
from tests.programs.bench.usage import refuse_other_systems
from towerhall_server.cli.progress import progress

THERE, HERE = "there", "here"
PACKAGES = ("protocol", "server", "clients/python")
Pair = dict[str, Window]


def measure(folder: Path) -> list[Figure]:
    refuse_other_systems()
    missing = [name for name in PACKAGES if not (folder / name).is_dir()]
    if missing:
        sys.exit(f"{folder} is no checkout of this project: {missing[0]} is missing")
    pairs = list(progress(_pairs(folder.resolve()), REPEATS, "turns"))
    steady, saturated = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return [
        *_compared("server's CPU for a move", "us", saturated, _server_us),
        *_compared("store's CPU for a move", "us", saturated, _store_us),
        *_compared("move to all four, p50", "ms", steady, _p50_ms),
        *_compared("move to all four, p99", "ms", steady, _p99_ms),
    ]


def _pairs(folder: Path) -> Iterator[tuple[Pair, Pair]]:
    """The steady and the saturated windows of each repeat."""
    spares = spares_for(STEADY.most_moves(ROOMS) + SATURATED.most_moves(ROOMS))
    for number in range(REPEATS):
        chance = Random(number)
        with (
            towerhall(packages=[str(folder / name) for name in PACKAGES]) as other,
            towerhall() as own,
            driven(other, ROOMS, spares=spares) as there,
            driven(own, ROOMS, spares=spares) as here,
        ):
            plays = {THERE: there.play, HERE: here.play}
            yield alternated(plays, STEADY, chance), alternated(plays, SATURATED, chance)


def _compared(
    name: str, unit: str, pairs: Sequence[Pair], read: Callable[[Window], float]
) -> list[Figure]:
    values = {side: [read(pair[side]) for pair in pairs] for side in (THERE, HERE)}
    ratios = [here / there for there, here in zip(values[THERE], values[HERE], strict=True)]
    void = disturbed([window for pair in pairs for window in pair.values()])
    there = f"there {median(values[THERE]):.2f} ({span(values[THERE])})"
    return [
        Figure(name, median(values[HERE]), unit, note=f"{span(values[HERE])}; {there}", void=void),
        Figure("  against the other tree", median(ratios), "x", note=span(ratios), void=void),
    ]


def _server_us(window: Window) -> float:
    return window.server_cpu / window.moves * 1e6


def _store_us(window: Window) -> float:
    return window.store_cpu / window.moves * 1e6


def _p50_ms(window: Window) -> float:
    return window.latency_us(0.5) / 1000


def _p99_ms(window: Window) -> float:
    return window.latency_us(0.99) / 1000
