"""What it costs that a server is several processes: rooms split among them, and rooms across them.

Each repeat plays the same moves in three places: all rooms on one process, the rooms split over
two, and on two with everybody at another process than the neighbours. All three are alive together,
and are measured in short windows by turns, in an order that chance decides, so that a change of the
machine's speed changes all of them alike (see `alternating`). Each has a store of the same kind of
its own; the processes share one core, so what is compared is their CPU time, added up over all
windows. Ratios are made of these sums, within a repeat.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from random import Random
from statistics import median

import msgspec

from tests.programs.bench.alternating import Series, alternated
from tests.programs.bench.driving import disturbed, driven, spares_for
from tests.programs.bench.load import Step, Window
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import towerhall_nodes
from tests.programs.bench.usage import refuse_other_systems
from towerhall_server.cli.progress import progress

ROOMS = 200
REPEATS = 5
SATURATED = Series(Step("saturated", moves=3_000, warm_up=500), windows=4)
SPLIT_BAR = 0.85
ACROSS_BAR = 1.5


class Trio(msgspec.Struct, frozen=True):
    """The same moves in all three places, in one repeat: of each all windows together."""

    alone: Window
    """One process has all rooms."""
    split: Window
    """Each of two processes has half of the rooms."""
    across: Window
    """Each of two processes has half of the players of every room."""


def measure() -> list[Figure]:
    """Moves per CPU-second of two processes, and the cost of a move that both have to see."""
    return figures(run_trios(ROOMS, REPEATS, SATURATED))


def run_trios(rooms: int, repeats: int, series: Series) -> list[Trio]:
    refuse_other_systems()
    spares = spares_for(series.most_moves(rooms))

    def repeat(number: int) -> Trio:
        with ExitStack() as stack:
            plays = {}
            for place, count in (("alone", 1), ("split", 2), ("across", 2)):
                server = stack.enter_context(towerhall_nodes(count))
                mixed = place == "across"
                load = stack.enter_context(driven(server, rooms, spares=spares, mixed=mixed))
                plays[place] = load.play
            return Trio(**alternated(plays, series, Random(number)))

    return list(progress(map(repeat, range(repeats)), repeats, "nodes"))


def figures(trios: Sequence[Trio]) -> list[Figure]:
    alone = [trio.alone for trio in trios]
    split = [trio.split for trio in trios]
    across = [trio.across for trio in trios]
    void = disturbed([*alone, *split, *across])
    speeds = [
        ours.per_cpu_second / one.per_cpu_second for ours, one in zip(split, alone, strict=True)
    ]
    costs = [_cost(ours) / _cost(same) for ours, same in zip(across, split, strict=True)]
    return [
        Figure(
            "moves, rooms on two against one",
            median(speeds),
            "x",
            at_least=SPLIT_BAR,
            note=span(speeds),
            void=void,
        ),
        Figure(
            "cost of a move, players on two",
            median(costs),
            "x",
            ACROSS_BAR,
            note=f"{span(costs)}; against players on one",
            void=void,
        ),
        *_details("one process", alone),
        *_details("rooms split", split),
        *_details("players split", across),
    ]


def _details(name: str, windows: Sequence[Window]) -> list[Figure]:
    """What the ratios are made of."""
    speeds = [window.per_cpu_second for window in windows]
    stores = [window.store_cpu / window.moves * 1e6 for window in windows]
    store = f"{span(stores, 1)}; not part of the server's cost"
    return [
        Figure(f"  {name}: moves", median(speeds), "1/CPUs", note=span(speeds, 0)),
        Figure(f"  {name}: store's CPU for a move", median(stores), "us", note=store),
    ]


def _cost(window: Window) -> float:
    """Of one move, in microseconds of all server processes together."""
    return window.server_cpu / window.moves * 1e6
