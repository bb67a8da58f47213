"""The worth of a placement for its builder: a higher tower, or a higher full ring.

`building` checks whether the tower stands; this file does not.
"""

from collections.abc import Callable
from typing import TypeAlias

from towerhall_server.games.nikitin_towers.blocks import Cubes
from towerhall_server.games.nikitin_towers.tower import (
    MAT,
    RING,
    Cell,
    Tower,
    height_with,
    tops,
)

Worth: TypeAlias = Callable[[Tower, Cubes], float]
"""The worth of a tower with these additional cubes."""

LEVEL = 4.0
"""The worth of one more level on all rim columns; found by games between variants."""
HOLE = 0.5
"""The cost of a rim cell that is covered while it is empty."""
STRAY = 1.0
"""The cost of a cube that is not over the rim."""
STEEP = 0.3
"""The cost of high rim columns: the mean of their squared heights counts."""


def worth_of_height(tower: Tower, cubes: Cubes) -> float:
    """The height after it; among equals what lies on the mat's columns, on something, and low."""
    before = tops(tower)
    lowest: dict[Cell, int] = {}
    for x, y, z in cubes:
        lowest[x, y] = min(z, lowest.get((x, y), z))
    hanging = sum(before.get(column, 0) != z for column, z in lowest.items())
    outside = sum((x, y) not in MAT for x, y, _ in cubes)
    level = sum(z for _, _, z in cubes)
    return height_with(tower, cubes) - outside / 10 - (hanging / 100 + level / 1000) / len(cubes)


def worth_of_ring(tower: Tower, cubes: Cubes) -> float:
    """A flat, full rim: the lowest rim column counts; holes, strays and high columns cost."""
    before = tops(tower)
    highest: dict[Cell, int] = {}
    for x, y, z in cubes:
        highest[x, y] = max(highest.get((x, y), 0), z + 1)
    strays = holes = 0
    for column, top in highest.items():
        added = sum((x, y) == column for x, y, _ in cubes)
        if column in RING:
            holes += top - added - before.get(column, 0)
        else:
            strays += added
    rim = [highest.get(column, before.get(column, 0)) for column in RING]
    steep = sum(top * top for top in rim) / len(rim)
    return LEVEL * min(rim) - HOLE * holes - STRAY * strays - STEEP * steep
