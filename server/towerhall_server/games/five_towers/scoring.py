"""Points (FT 10), for towers given by their values from the bottom up."""

import msgspec

from towerhall_server.games.five_towers.cards import SPIRE, Values


class Score(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One seat's points, taken apart."""

    cards: int
    """One for each card in a tower."""
    spires: int
    """One more for each card in a tower with a spire."""
    main: int
    """One more for each card of the tallest tower."""
    penalty: int
    """The cost of the demolition pile: never above 0."""
    total: int


def tower_points(tower: Values) -> int:
    """A tower without the main tower's bonus. Under the cap a spire may lie inside it (FT 12)."""
    return len(tower) * 2 if SPIRE in tower else len(tower)


def penalty(demolished: int) -> int:
    """Minus 1 for the first demolished card, 2 for the second, 3 for the third ..."""
    return -demolished * (demolished + 1) // 2


def total(towers: tuple[Values, ...], demolished: int) -> int:
    """All points of one seat."""
    points, main = penalty(demolished), 0
    for tower in towers:
        points += tower_points(tower)
        if len(tower) > main:
            main = len(tower)
    return points + main


def score(towers: tuple[Values, ...], demolished: int) -> Score:
    """All points of one seat, taken apart."""
    return Score(
        cards=sum(map(len, towers)),
        spires=sum(len(tower) for tower in towers if SPIRE in tower),
        main=max(map(len, towers)),
        penalty=penalty(demolished),
        total=total(towers, demolished),
    )
