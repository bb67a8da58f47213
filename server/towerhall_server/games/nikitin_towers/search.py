"""Where a block can go (NT 3, NT 6): places that hold it, and whether any of them stands.

`candidates` lists the places whose own footing holds the block, which is necessary and cheap to
know. `find_standing` looks for one after which the whole tower stands. Its work is bounded by a
number of full checks, never by time, so that each server gives the same answer.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import msgspec

from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS
from towerhall_server.games.nikitin_towers.footing import INSET, Corner, braces, footing, mass
from towerhall_server.games.nikitin_towers.stability import stands_with
from towerhall_server.games.nikitin_towers.tower import (
    Placed,
    Tower,
    columns,
    height_with,
    owners,
    ring_level_with,
)

MOST_CHECKS = 300
"""Full checks after which a search gives up (NT 6)."""


class Unfinished(msgspec.Struct, frozen=True):
    """A search that used up its checks: a standing place may exist."""

    checks: int


class Candidate(msgspec.Struct, frozen=True):
    """A legal place whose footing holds the block, and what the tower would measure with it."""

    placed: Placed
    top: int
    """The level of the block's highest cube."""
    height: int
    ring_level: int
    footing: tuple[Corner, ...]


def places(tower: Tower, kind: str, turn: int = 0) -> Iterator[Placed]:
    """Every legal place of a block, in the order of orientations, then columns."""
    for number, shape in enumerate(ORIENTATIONS[kind], start=1):
        for (x, y), z in sorted(columns(tower, shape).items()):
            yield Placed(turn, kind, number, x, y, z)


def candidates(
    tower: Tower, kind: str, slope: int, turn: int = 0, *, inset: Fraction = INSET
) -> Iterator[Candidate]:
    """The legal places whose own footing holds the block in all leans, in the order of `places`."""
    occupied = owners(tower)
    for placed in places(tower, kind, turn):
        corners = footing(occupied, placed, inset)
        _, held = braces(corners, mass(placed), slope, inset.denominator)
        if held:
            cubes = placed.cubes
            yield Candidate(
                placed,
                1 + max(z for _, _, z in cubes),
                height_with(tower, cubes),
                ring_level_with(tower, cubes),
                corners,
            )


def find_standing(
    tower: Tower,
    kind: str,
    slope: int,
    most_checks: int = MOST_CHECKS,
    *,
    turn: int = 0,
    inset: Fraction = INSET,
) -> Placed | Unfinished | None:
    """A place after which the tower stands. Returns None if there is none at all."""
    hopeful = sorted(candidates(tower, kind, slope, turn, inset=inset), key=_promise)
    for candidate in hopeful[:most_checks]:
        if stands_with(tower, candidate.placed, slope, inset=inset):
            return candidate.placed
    return Unfinished(most_checks) if len(hopeful) > most_checks else None


def _promise(candidate: Candidate) -> tuple[int, float]:
    """Low places first, of these the ones with the widest footing."""
    return candidate.top, -_spread(candidate.footing)


def _spread(corners: Sequence[Corner]) -> float:
    """The area of the box round all corners, in square grains."""
    wide = max(corner[1] for corner in corners) - min(corner[1] for corner in corners)
    deep = max(corner[2] for corner in corners) - min(corner[2] for corner in corners)
    return wide * deep
