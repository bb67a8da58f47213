"""The text notation of shapes and placements, which logs, clients and people share.

`D4.3` is kind D4 in its third orientation, `D4.3@1,-1` puts it over a column, and `D4.3@1,-1,5`
says at which height it rests. There is one spelling for each, and `read` takes no other. Whether a
placement is legal may not be asked here.
"""

import re
from typing import NamedTuple

from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS
from towerhall_server.games.nikitin_towers.tower import Placed

_SHAPE = r"([A-F][1-6])\.([1-9][0-9]?)"
_COLUMN = r"(0|-?[1-9][0-9]?)"
_HEIGHT = r"(0|[1-9][0-9]{0,2})"
_SPELLING = re.compile(f"{_SHAPE}(?:@{_COLUMN},{_COLUMN}(?:,{_HEIGHT})?)?", re.ASCII)


class Shape(NamedTuple):
    """A kind in one of its orientations, which are numbered from 1."""

    kind: str
    orientation: int


class Placement(NamedTuple):
    """A shape over a column, and the height at which it rests if that is said."""

    kind: str
    orientation: int
    x: int
    y: int
    z: int | None = None


def spell(
    kind: str, orientation: int, x: int | None = None, y: int | None = None, z: int | None = None
) -> str:
    """`D4.3`, `D4.3@1,-1` or `D4.3@1,-1,5`."""
    text = f"{kind}.{orientation}"
    if x is None or y is None:
        return text
    return f"{text}@{x},{y}" if z is None else f"{text}@{x},{y},{z}"


def spell_resting(placed: Placed) -> str:
    """Where a block of a tower rests: `D4.3@1,-1,5`."""
    return spell(placed.kind, placed.orientation, placed.x, placed.y, placed.z)


def read(text: object) -> Shape | Placement | None:
    """A shape or a placement. Returns None for everything that `spell` does not write."""
    if not isinstance(text, str) or (found := _SPELLING.fullmatch(text)) is None:
        return None
    kind, number, x, y, z = found.groups()
    orientation = int(number)
    if orientation > len(ORIENTATIONS.get(kind, ())):
        return None
    if x is None:
        return Shape(kind, orientation)
    return Placement(kind, orientation, int(x), int(y), None if z is None else int(z))


def read_shape(text: object) -> Shape | None:
    """A shape alone. Returns None for everything else."""
    found = read(text)
    return found if isinstance(found, Shape) else None


def read_placement(text: object) -> Placement | None:
    """A placement, with or without its height. Returns None for everything else."""
    found = read(text)
    return found if isinstance(found, Placement) else None
