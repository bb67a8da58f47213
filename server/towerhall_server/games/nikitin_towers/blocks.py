"""The material (NT 1): 22 kinds of block, how many there are of each, and all their orientations.

The table of the rules is data here; everything else about shapes is derived from it once. A block
is only ever turned, never mirrored. Towers, contacts and weights may not live here.
"""

from collections.abc import Mapping
from itertools import permutations, product
from types import MappingProxyType
from typing import TypeAlias

import msgspec

Cube: TypeAlias = tuple[int, int, int]
"""The low corner (x, y, z) of a unit cube."""
Cubes: TypeAlias = tuple[Cube, ...]
"""Cubes in ascending order."""


class Kind(msgspec.Struct, frozen=True):
    """One kind of block: its name, how many the box holds, and its cubes in one orientation."""

    id: str
    count: int
    cubes: Cubes

    @property
    def size(self) -> int:
        return len(self.cubes)


# NT 1. A triple like 210 means x=2, y=1, z=0.
_TABLE = """
A1 12 000
B1  9 000 100
C1  3 000 100 200
C2  3 000 100 010
D1  1 000 100 200 300
D2  1 000 100 010 110
D3  1 000 100 200 010
D4  1 000 100 200 110
D5  1 000 100 110 210
D6  1 000 100 010 001
E1  1 000 100 200 010 110
E2  1 000 100 200 010 020
E3  1 000 100 110 210 220
E4  1 100 010 110 210 120
E5  1 000 100 200 110 101
E6  1 000 100 110 210 101
F1  1 000 100 200 010 110 210
F2  1 000 100 200 010 110 020
F3  1 000 100 200 010 210 101
F4  1 100 010 110 210 120 111
F5  1 000 100 200 010 020 001
F6  1 000 100 110 111 211 221
"""


def _cube(triple: str) -> Cube:
    x, y, z = map(int, triple)
    return x, y, z


def _read_table(table: str) -> dict[str, Kind]:
    rows = [line.split() for line in table.strip().splitlines()]
    return {
        name: Kind(name, int(count), tuple(sorted(map(_cube, triples))))
        for name, count, *triples in rows
    }


CATALOGUE: Mapping[str, Kind] = MappingProxyType(_read_table(_TABLE))
"""Every kind by its name, from small to large."""

SIZES = range(1, 7)
KINDS_OF_SIZE: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {size: tuple(name for name, kind in CATALOGUE.items() if kind.size == size) for size in SIZES}
)


def size_of(kind: str) -> int:
    """The number of cubes of a kind, which is also its weight."""
    return CATALOGUE[kind].size


Rotation: TypeAlias = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""For each new axis: the old axis that it takes over, and 1 or -1."""


def _is_proper(axes: tuple[int, ...], signs: tuple[int, ...]) -> bool:
    """Whether the determinant is 1: a rotation, not a mirror image."""
    swaps = sum(axes[i] > axes[j] for i in range(3) for j in range(i + 1, 3))
    parity = -1 if swaps % 2 else 1
    return parity * signs[0] * signs[1] * signs[2] == 1


ROTATIONS: tuple[Rotation, ...] = tuple(
    ((axes[0], signs[0]), (axes[1], signs[1]), (axes[2], signs[2]))
    for axes in permutations(range(3))
    for signs in product((1, -1), repeat=3)
    if _is_proper(axes, signs)
)
"""The 24 rotations of a cube."""


def turned(cubes: Cubes, rotation: Rotation) -> Cubes:
    """The cubes after a rotation, moved to the zero corner."""
    (ax, sx), (ay, sy), (az, sz) = rotation
    return at_zero(tuple((sx * cube[ax], sy * cube[ay], sz * cube[az]) for cube in cubes))


def at_zero(cubes: Cubes) -> Cubes:
    """The cubes in ascending order, moved so that the smallest x, y and z are 0."""
    least_x, least_y, least_z = (min(cube[axis] for cube in cubes) for axis in range(3))
    return tuple(sorted((x - least_x, y - least_y, z - least_z) for x, y, z in cubes))


ORIENTATIONS: Mapping[str, tuple[Cubes, ...]] = MappingProxyType(
    {
        name: tuple(sorted({turned(kind.cubes, rotation) for rotation in ROTATIONS}))
        for name, kind in CATALOGUE.items()
    }
)
"""The distinct orientations of each kind in ascending order; they are numbered from 1."""
