"""The building rules once more, as plainly as possible: what the product is compared with.

Nothing here may use the product's own calculus: no chains, no grouping by kind, no remembering.
"""

from collections.abc import Iterator
from typing import NamedTuple

from towerhall_server.games.five_towers.cards import Card
from towerhall_server.games.five_towers.options import Options

Towers = dict[str, tuple[int, ...]]


class Outcome(NamedTuple):
    """What a build leaves: towers by kind, and the kind that lost its top."""

    towers: tuple[tuple[str, tuple[int, ...]], ...]
    demolish: str | None


def parse(card: Card) -> tuple[str, int]:
    kind, value = card.rstrip("+").split(":")
    return kind, int(value)


def may_lie(tower: tuple[int, ...], value: int, options: Options) -> bool:
    """FT 6, and FT 12 for the cap: whether the value may go on this tower."""
    if not tower:
        return True
    top = tower[-1]
    if value == 9 and top != 0:
        return True
    if options.eight == "base" and top == 8:
        return True
    if options.eight == "cap" and value == 8:
        return True
    return value < top


def is_legal(tower: tuple[int, ...], options: Options) -> bool:
    """Whether a tower could have been built card by card."""
    return all(may_lie(tower[:at], value, options) for at, value in enumerate(tower))


def demolitions(towers: Towers, options: Options) -> Iterator[tuple[str | None, Towers]]:
    """Each thing that may be demolished, and what is left; nothing first."""
    yield None, towers
    for kind, tower in towers.items():
        if tower and (tower[-1] != 0 or options.demolish_spire):
            yield kind, {**towers, kind: tower[:-1]}


def placements(
    towers: Towers, display: tuple[Card, ...], options: Options
) -> Iterator[tuple[tuple[Card, ...], Towers]]:
    """Every ordered choice of display cards that can be built, with the towers after it."""
    yield (), towers
    for card in display:
        kind, value = parse(card)
        tower = towers.get(kind, ())
        if may_lie(tower, value, options):
            left = tuple(other for other in display if other != card)
            for rest, after in placements({**towers, kind: (*tower, value)}, left, options):
                yield (card, *rest), after


def outcomes(
    towers: Towers, display: tuple[Card, ...], number: int, options: Options
) -> set[Outcome]:
    """Every different result of building exactly that many cards."""
    return {
        Outcome(tuple(sorted((k, t) for k, t in after.items() if t)), demolish)
        for demolish, left in demolitions(towers, options)
        for chosen, after in placements(left, display, options)
        if len(chosen) == number
    }


def most(towers: Towers, display: tuple[Card, ...], options: Options) -> int:
    """The largest number of display cards that can be built."""
    return max(
        len(chosen)
        for _, left in demolitions(towers, options)
        for chosen, _ in placements(left, display, options)
    )


def points(towers: Towers, demolished: int) -> int:
    """FT 10, counted card by card."""
    total = 0
    for tower in towers.values():
        for _ in tower:
            total += 2 if 0 in tower else 1
    total += max((len(tower) for tower in towers.values()), default=0)
    for nth in range(1, demolished + 1):
        total -= nth
    return total
