"""What a table is worth to its owner: points now, and what may still come on top.

A tower without a spire counts its cards, the cards that may still come to it, and its chance of a
spire; the whole follows the building rule of the room's options, so it holds in every variant.
"""

from functools import lru_cache

from towerhall_server.games.five_towers.building import can_place, top_of
from towerhall_server.games.five_towers.cards import SPIRE, Values
from towerhall_server.games.five_towers.scoring import penalty

# Found by playing many games between variants of the same bot; see `make bench` for strengths.
FIT_WEIGHT = 1.2
FIT_POWER = 0.8
BRIDGE_SHARE = 0.5
SPIRE_CHANCE = 0.25
SPIRE_PATIENCE = 2


@lru_cache(maxsize=1 << 16)
def tower_value(tower: Values, coming: Values, eight: str) -> float:
    """The worth of one tower, given the values of its kind that may still be dealt."""
    top = top_of(tower)
    more: float = FIT_WEIGHT * expected_fits(top, coming, eight) ** FIT_POWER
    if SPIRE in tower:
        return 2 * (len(tower) + more)
    height = len(tower) + more
    chance = min(1.0, SPIRE_CHANCE * coming.count(SPIRE))
    return height + chance * (height + SPIRE_PATIENCE)


@lru_cache(maxsize=1 << 15)
def expected_fits(top: int, coming: Values, eight: str) -> float:
    """Cards that fit on the top, and half of those that a coming 8 or 9 would open."""
    direct = [value for value in coming if can_place(top, value, eight)]
    opened = [
        value
        for value in coming
        if not can_place(top, value, eight)
        and any(can_place(bridge, value, eight) for bridge in direct if bridge in (8, 9))
    ]
    return len(direct) + BRIDGE_SHARE * len(opened)


def table_value(
    towers: tuple[Values, ...], demolished: int, coming: tuple[Values, ...], eight: str
) -> float:
    """The worth of everything before one seat."""
    total = float(max(map(len, towers)) + penalty(demolished))
    for tower, values in zip(towers, coming, strict=True):
        total += tower_value(tower, values, eight)
    return total
