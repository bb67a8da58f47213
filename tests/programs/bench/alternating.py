"""Windows by turns: how servers are compared on a machine that changes its speed within seconds.

Those that are to be compared are alive at the same time, each with a load of its own, and are
measured in many short windows, one server after the other. While one is measured nothing is under
way at the others, so they cost it next to nothing; and whatever the machine does for longer than a
window, it does to all of them alike. What a server's windows tell is added up, and ratios are made
of the sums: one window is too short to tell anything.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

import msgspec

from tests.programs.bench.load import Step, Window


class Series(msgspec.Struct, frozen=True):
    """The same step in so many windows."""

    step: Step
    windows: int

    def most_moves(self, rooms: int) -> int:
        """What it needs tables for: when a window has ended, each room ends the move it is at."""
        return self.windows * (self.step.moves + rooms)


def alternated(
    plays: Mapping[str, Callable[[Step], Window]], series: Series, chance: Random
) -> dict[str, Window]:
    """All windows of a series on each server, as one. Chance decides who is first in each turn."""
    windows: dict[str, list[Window]] = {name: [] for name in plays}
    for _ in range(series.windows):
        for name in chance.sample(list(plays), len(plays)):
            windows[name].append(plays[name](series.step))
    return {name: together(found) for name, found in windows.items()}


def together(windows: Sequence[Window]) -> Window:
    """As if it had been one long window: sums, and the latencies of all moves."""
    return Window(
        name=windows[0].name,
        moves=sum(window.moves for window in windows),
        seconds=sum(window.seconds for window in windows),
        server_cpu=sum(window.server_cpu for window in windows),
        store_cpu=sum(window.store_cpu for window in windows),
        client_cpu=sum(window.client_cpu for window in windows),
        others_cpu=sum(window.others_cpu for window in windows),
        latencies_us=tuple(sorted(took for window in windows for took in window.latencies_us)),
        late_slots=sum(window.late_slots for window in windows),
    )
