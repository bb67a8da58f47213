"""Towers and placements (NT 2, NT 3): where blocks rest, and which placements are legal.

A tower is the list of its blocks in the order of placement. Everything else about it is derived and
cached inside it. All tests look at the tops of columns only: a block comes down from above. Whether
a tower stands may not be asked here.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal, TypeAlias

import msgspec

from towerhall_server.game import kept
from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS, Cube, Cubes, at_zero

Cell: TypeAlias = tuple[int, int]
"""A column of cubes by its (x, y)."""
Illegal: TypeAlias = Literal["shape", "overlap", "covered", "floating", "mat"]

MAT_SIDE = 3
MAT: frozenset[Cell] = frozenset((x, y) for x in range(MAT_SIDE) for y in range(MAT_SIDE))
RING: frozenset[Cell] = MAT - {(MAT_SIDE // 2, MAT_SIDE // 2)}
"""The eight rim cells of the mat."""


class Placed(msgspec.Struct, frozen=True):
    """A block of a tower: in which turn it was placed, its shape, and where its zero corner is."""

    turn: int
    kind: str
    orientation: int
    x: int
    y: int
    z: int

    @property
    def cubes(self) -> Cubes:
        x, y, z = self.x, self.y, self.z
        shape = ORIENTATIONS[self.kind][self.orientation - 1]
        return tuple((x + dx, y + dy, z + dz) for dx, dy, dz in shape)


class Tower(msgspec.Struct, frozen=True, dict=True):
    """Blocks in the order of placement."""

    blocks: tuple[Placed, ...] = ()

    def plus(self, placed: Placed) -> "Tower":
        return Tower((*self.blocks, placed))

    def without(self, fallen: frozenset[int]) -> "Tower":
        """The blocks that stay, in the same order; `fallen` are indices."""
        return Tower(tuple(b for index, b in enumerate(self.blocks) if index not in fallen))


@kept
def owners(tower: Tower) -> Mapping[Cube, int]:
    """For each occupied cube the index of its block."""
    return {cube: index for index, block in enumerate(tower.blocks) for cube in block.cubes}


@kept
def tops(tower: Tower) -> Mapping[Cell, int]:
    """The height of each column that is not empty."""
    highest: dict[Cell, int] = {}
    for x, y, z in owners(tower):
        if z >= highest.get((x, y), 0):
            highest[x, y] = z + 1
    return highest


@kept
def height(tower: Tower) -> int:
    """The highest level that is occupied anywhere; 0 if the tower is empty (NT 7)."""
    return max(tops(tower).values(), default=0)


@kept
def ring_level(tower: Tower) -> int:
    """The highest level on which all rim cells over the mat are occupied; 0 if none (NT 7)."""
    return _highest_full(rim_counts(tower))


@kept
def rim_counts(tower: Tower) -> Mapping[int, int]:
    """For each level the number of occupied rim cells over the mat."""
    counts: dict[int, int] = {}
    for x, y, z in owners(tower):
        if (x, y) in RING:
            counts[z + 1] = counts.get(z + 1, 0) + 1
    return counts


def _highest_full(counts: Mapping[int, int]) -> int:
    return max((level for level, count in counts.items() if count == len(RING)), default=0)


def height_with(tower: Tower, cubes: Cubes) -> int:
    """The height that the tower would have with these cubes in it."""
    return max(height(tower), 1 + max(z for _, _, z in cubes))


def ring_level_with(tower: Tower, cubes: Cubes) -> int:
    """The ring level that the tower would have with these cubes in it."""
    counts = rim_counts(tower)
    more: dict[int, int] = {}
    for x, y, z in cubes:
        if (x, y) in RING:
            more[z + 1] = more.get(z + 1, 0) + 1
    full = [level for level in more if more[level] + counts.get(level, 0) == len(RING)]
    return max(ring_level(tower), max(full, default=0))


@cache
def undersides(shape: Cubes) -> tuple[Cube, ...]:
    """The lowest cube of each column: the only ones that can come to rest on anything."""
    lowest: dict[Cell, int] = {}
    for x, y, z in shape:
        lowest[x, y] = min(z, lowest.get((x, y), z))
    return tuple((x, y, z) for (x, y), z in lowest.items())


@cache
def _columns_on_mat(shape: Cubes) -> tuple[Cell, ...]:
    """Where the shape has all cubes of its lowest level over the mat."""
    feet = [(x, y) for x, y, z in shape if z == 0]
    offsets = range(-MAT_SIDE, MAT_SIDE)
    return tuple(
        (x, y) for x in offsets for y in offsets if all((x + dx, y + dy) in MAT for dx, dy in feet)
    )


def rest(tower: Tower, shape: Cubes, x: int, y: int) -> int:
    """The height of the zero corner at which the shape comes to rest over a column (NT 3)."""
    top = tops(tower).get
    return max(top((x + dx, y + dy), 0) - dz for dx, dy, dz in undersides(shape))


def columns(tower: Tower, shape: Cubes) -> Mapping[Cell, int]:
    """Every legal column of a shape, with the height at which it rests there (NT 3).

    A resting place breaks no rule but that of the mat: so it is legal from level 2 on, and on
    level 1 if its feet are on the mat.
    """
    on_mat = _columns_on_mat(shape)
    heights = dict.fromkeys(on_mat, 0)
    under = undersides(shape)
    for (x, y), top in tops(tower).items():
        for dx, dy, dz in under:
            if top > dz and heights.get(column := (x - dx, y - dy), 0) < top - dz:
                heights[column] = top - dz
    return heights


def why_illegal(tower: Tower, kind: str, cubes: Cubes) -> Illegal | None:
    """The first rule that a placement of these cubes breaks (NT 3). Returns None if it is legal."""
    if not cubes or at_zero(cubes) not in ORIENTATIONS[kind]:
        return "shape"
    taken, top = owners(tower), tops(tower)
    if any(cube in taken or cube[2] < 0 for cube in cubes):
        return "overlap"
    if any(top.get((x, y), 0) > z for x, y, z in cubes):
        return "covered"
    if not any(z == 0 or (x, y, z - 1) in taken for x, y, z in cubes):
        return "floating"
    if any(z == 0 and (x, y) not in MAT for x, y, z in cubes):
        return "mat"
    return None
