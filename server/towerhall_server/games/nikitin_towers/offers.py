"""A seat's possible commands (NT 3, 6).

The possible columns of a block are offered as rectangles: a range of `x` and a range of `y`, with
the shapes that fit into every column of it. An average offer takes 1 to 3 kB, and a client
without rules can play from it.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from towerhall_protocol.offers import Choice, Offer, Range
from towerhall_server.game import Seat
from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS
from towerhall_server.games.nikitin_towers.notation import spell
from towerhall_server.games.nikitin_towers.state import State, kinds_of_size, to_act
from towerhall_server.games.nikitin_towers.tower import Cell, Tower, columns

Rectangle = tuple[int, int, int, int]
"""Least and most `x`, least and most `y`; all included."""

_ROLL = (Offer("roll"),)
_GIVE_BACK = Offer("give_back", unsure=True)


def offers(state: State, seat: Seat) -> tuple[Offer, ...]:
    if seat not in to_act(state):
        return ()
    if state.phase == "roll":
        return _ROLL
    if state.phase == "choose":
        kinds = kinds_of_size(state.pile, state.size)
        return (Offer("choose", choices=tuple(Choice({"block": kind}) for kind in kinds)),)
    return _placements(state.towers[seat], state.block)


@lru_cache(maxsize=64)
def _placements(tower: Tower, kind: str) -> tuple[Offer, ...]:
    """Every legal placement of the block, each exactly once."""
    shapes: dict[Rectangle, list[str]] = {}
    for orientation, cubes in enumerate(ORIENTATIONS[kind], start=1):
        for rectangle in rectangles(columns(tower, cubes)):
            shapes.setdefault(rectangle, []).append(spell(kind, orientation))
    places = (_offer(rectangle, shapes[rectangle]) for rectangle in sorted(shapes))
    return (*places, _GIVE_BACK)


def _offer(rectangle: Rectangle, shapes: list[str]) -> Offer:
    least_x, most_x, least_y, most_y = rectangle
    ranges = {"x": Range(least_x, most_x), "y": Range(least_y, most_y)}
    return Offer("place", ranges, tuple(Choice({"shape": shape}) for shape in shapes))


def rectangles(free: Iterable[Cell]) -> Iterator[Rectangle]:
    """The columns as rectangles that do not overlap: runs of equal extent in successive rows."""
    rows: dict[int, list[int]] = {}
    for x, y in sorted(free):
        rows.setdefault(y, []).append(x)
    tall: dict[tuple[int, int], tuple[int, int]] = {}
    for y in sorted(rows):
        for run in _runs(rows[y]):
            since, until = tall.get(run, (y, y - 1))
            if until != y - 1:
                yield (*run, since, until)
                since = y
            tall[run] = since, y
    for run, (since, until) in tall.items():
        yield (*run, since, until)


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Ascending numbers as runs without a gap."""
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last
