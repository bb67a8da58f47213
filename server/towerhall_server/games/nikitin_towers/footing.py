"""The base of a block (NT 4): its contact corners, and whether they hold its own weight.

All of it is exact: corners are whole numbers of a grain of 1/139. A block's footing never changes
while the blocks under it stay, as it rests on blocks placed before it only. Forces between more
than two blocks belong to `stability`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS, Cube
from towerhall_server.games.nikitin_towers.tower import Cell, Placed, undersides

INSET = Fraction(6, 139)
"""NT 4: how far the rounded edges keep a contact from the border of a face."""
GROUND = -1
"""Stands for the mat where others name the index of a block."""

Corner: TypeAlias = tuple[int, int, int, int]
"""A point of contact: the index of the block below, x and y in grains, z in levels."""
Pull: TypeAlias = tuple[int, int]
"""A lean as its direction: the ground slants by this over `slope` levels."""
Brace: TypeAlias = tuple[int, int, int, float, float, float]
"""Three corners by number, and the forces in them that hold the block's own weight."""
Mass: TypeAlias = tuple[int, int, int, int]
"""The cubes of a block, and twice the sum of their centres in x, y and z."""

PULLS: tuple[Pull, ...] = ((1, 0), (-1, 0), (0, 1), (0, -1))
UPRIGHT: tuple[Pull, ...] = ((0, 0),)


def pulls_of(slope: int) -> tuple[tuple[Pull, ...], int]:
    """The leans of a slope of 1 : `slope`, and a divisor for them that is never 0."""
    return (PULLS, slope) if slope else (UPRIGHT, 1)


@cache
def _mass_of_shape(kind: str, orientation: int) -> Mass:
    shape = ORIENTATIONS[kind][orientation - 1]
    x, y, z = (sum(2 * cube[axis] + 1 for cube in shape) for axis in range(3))
    return len(shape), x, y, z


def mass(placed: Placed) -> Mass:
    """The weight of a block and its moments."""
    weight, x, y, z = _mass_of_shape(placed.kind, placed.orientation)
    double = 2 * weight
    return weight, x + double * placed.x, y + double * placed.y, z + double * placed.z


def footing(owners: Mapping[Cube, int], placed: Placed, inset: Fraction) -> tuple[Corner, ...]:
    """The contact corners of a block that rests on blocks of `owners`, or on the mat.

    For each block below and each height only the corners of the convex hull matter.
    """
    faces: dict[tuple[int, int], list[Cell]] = {}
    own_x, own_y, own_z = placed.x, placed.y, placed.z
    for dx, dy, dz in undersides(ORIENTATIONS[placed.kind][placed.orientation - 1]):
        x, y, z = own_x + dx, own_y + dy, own_z + dz
        below = owners.get((x, y, z - 1), GROUND) if z else GROUND
        if below != GROUND or z == 0:
            faces.setdefault((below, z), []).append((x, y))
    grain, edge = inset.denominator, inset.numerator
    corners: list[Corner] = []
    for (below, z), cells in faces.items():
        near_x, near_y = cells[0]
        for x, y in _outline(tuple((x - near_x, y - near_y) for x, y in cells), grain, edge):
            corners.append((below, x + near_x * grain, y + near_y * grain, z))
    return tuple(corners)


def prop(block: Mass, inset: Fraction) -> tuple[Corner, ...]:
    """Corners round the centre of a block that nothing is under, at the height of its centre."""
    weight, centre_x, centre_y, centre_z = block
    grain, double = inset.denominator, 2 * weight
    x, y, z = grain * centre_x // double, grain * centre_y // double, centre_z // double
    around = ((-grain, -grain), (grain, -grain), (grain, grain), (-grain, grain))
    return tuple((GROUND, x + right, y + up, z) for right, up in around)


@cache
def _outline(cells: tuple[Cell, ...], grain: int, edge: int) -> tuple[Cell, ...]:
    """The corners of the convex hull of unit faces with inset edges, counterclockwise."""
    near_and_far = (edge, grain - edge)
    points = [
        (x * grain + right, y * grain + up)
        for x, y in cells
        for right in near_and_far
        for up in near_and_far
    ]
    return tuple(points[index] for index in hull(points))


def hull(points: Sequence[Cell]) -> list[int]:
    """The numbers of the points that are corners of the convex hull, counterclockwise."""
    order = sorted(range(len(points)), key=points.__getitem__)
    half: list[int] = []
    whole: list[int] = []
    for way in (order, order[::-1]):
        half = []
        for index in way:
            x, y = points[index]
            while len(half) > 1:
                ax, ay = points[half[-2]]
                bx, by = points[half[-1]]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                half.pop()
            half.append(index)
        whole += half[:-1]
    return whole


def braces(
    corners: Sequence[Corner], block: Mass, slope: int, grain: int
) -> tuple[tuple[Brace, ...], bool]:
    """For each lean three corners round the block's centre, and whether all leans have them.

    Where the centre lies outside all corners, the three are any triangle, and a force is negative.
    """
    pulls, divisor = pulls_of(slope)
    weight, centre_x, centre_y, centre_z = block
    double = 2 * weight
    far = grain * divisor
    level = corners[0][3]
    flat = all(corner[3] == level for corner in corners)
    # All in units of 1 / (grain * divisor); the centre is multiplied by `double` as well.
    if flat:
        points = [(divisor * corner[1], divisor * corner[2]) for corner in corners]
        outline = _outline_order(corners, points)
    found: list[Brace] = []
    held = True
    for pull_x, pull_y in pulls:
        rise = centre_z
        if flat:
            rise -= double * level
        else:
            points = [
                (divisor * x - pull_x * grain * z, divisor * y - pull_y * grain * z)
                for _, x, y, z in corners
            ]
            outline = hull(points)
        target_x = far * centre_x - pull_x * grain * rise
        target_y = far * centre_y - pull_y * grain * rise
        brace, inside = _brace(points, outline, target_x, target_y, double)
        found.append(brace)
        held = held and inside
    return tuple(found), held


def _outline_order(corners: Sequence[Corner], points: Sequence[Cell]) -> Sequence[int]:
    """Corners on one block come from `_outline`, so they are in order already."""
    below = corners[0][0]
    if all(corner[0] == below for corner in corners):
        return range(len(corners))
    return hull(points)


def _brace(
    points: Sequence[Cell], outline: Sequence[int], x: int, y: int, double: int
) -> tuple[Brace, bool]:
    """The triangle of a fan over the outline in whose wedge (x, y) / `double` lies."""
    first = outline[0]
    ax, ay = points[first]
    from_x, from_y = x - double * ax, y - double * ay
    last = len(outline) - 1
    for at in range(2, last + 1):
        cx, cy = points[outline[at]]
        cx -= ax
        cy -= ay
        past = cx * from_y - cy * from_x
        if past <= 0 or at == last:
            break
    bx, by = points[outline[at - 1]]
    bx -= ax
    by -= ay
    area = double * (bx * cy - by * cx)
    to_last = bx * from_y - by * from_x
    to_middle = -past
    to_first = area - to_last - to_middle
    scale = double / (2 * area)
    brace = (
        first,
        outline[at - 1],
        outline[at],
        to_first * scale,
        to_middle * scale,
        to_last * scale,
    )
    return brace, to_first >= 0 and to_middle >= 0 and to_last >= 0
