"""A bot's placement: the place of most worth at which the tower stands."""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop
from typing import NamedTuple

from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS
from towerhall_server.games.nikitin_towers.bots.worth import Worth
from towerhall_server.games.nikitin_towers.footing import INSET, braces, footing, mass
from towerhall_server.games.nikitin_towers.notation import spell
from towerhall_server.games.nikitin_towers.stability import stands_with
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, columns, owners

MOST_CHECKS = 120
"""Full checks of one decision, which bound its time."""
NEW = 0
"""The turn number of a hypothetical block. Statics do not look at turns."""

Judge = Callable[[Tower, Placed, int], bool]
"""Whether a tower stands with one more block, on a table of that slope; it may be mistaken."""


class Place(NamedTuple):
    """A place that a bot has found."""

    worth: float
    placed: Placed


def place_command(placed: Placed) -> dict[str, object]:
    shape = spell(placed.kind, placed.orientation)
    return {"command": "place", "shape": shape, "x": placed.x, "y": placed.y}


def best_place(
    tower: Tower, kind: str, slope: int, worth: Worth, judge: Judge = stands_with
) -> Place | None:
    """The place of most worth at which the tower stands. None if no place was found."""
    checks = 0
    for place in ranked_places(tower, kind, worth):
        if not _is_held(tower, place.placed, slope):
            continue
        if judge(tower, place.placed, slope):
            return place
        checks += 1
        if checks == MOST_CHECKS:
            break
    return None


def _is_held(tower: Tower, placed: Placed, slope: int) -> bool:
    """Whether the block's own footing holds it: players see that before placing it."""
    corners = footing(owners(tower), placed, INSET)
    return braces(corners, mass(placed), slope, INSET.denominator)[1]


def ranked_places(tower: Tower, kind: str, worth: Worth) -> Iterator[Place]:
    """All legal places of a block, those of most worth first. They need not stand."""
    heap = []
    for orientation, shape in enumerate(ORIENTATIONS[kind], start=1):
        for (x, y), z in columns(tower, shape).items():
            cubes = tuple((x + dx, y + dy, z + dz) for dx, dy, dz in shape)
            heap.append((-worth(tower, cubes), orientation, x, y, z))
    heapify(heap)
    while heap:
        least, orientation, x, y, z = heappop(heap)
        yield Place(-least, Placed(NEW, kind, orientation, x, y, z))
