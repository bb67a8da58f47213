"""The value of a table for its owner: points now, and expected gains.

A tower without a spire is valued by its cards, the cards that may still come to it, and its chance
of a spire. The sum follows the building rule of the room's options, so it holds in every variant.
"""

from functools import lru_cache

import msgspec

from towerhall_server.games.five_towers.building import can_place, top_of
from towerhall_server.games.five_towers.cards import SPIRE, Values
from towerhall_server.games.five_towers.scoring import penalty


class Weights(msgspec.Struct, frozen=True, cache_hash=True):
    """Weights of expected gains, tuned by many games between variants."""

    fit: float
    """Expected cards if one card fits ..."""
    fit_power: float
    """... and the growth of that number with the cards that fit."""
    bridge: float = 0.5
    """The share of cards behind a coming 8 or 9 that counts as fitting."""
    spire: float = 0.25
    """The chance that a coming spire ends up on this tower."""
    patience: float = 2.0
    """Extra cards that a spire is expected to crown, beyond those that fit now."""


@lru_cache(maxsize=1 << 16)
def tower_value(tower: Values, coming: Values, eight: str, weights: Weights) -> float:
    """The value of one tower, given the values of its kind that may still be dealt."""
    fits = _expected_fits(top_of(tower), coming, eight, weights.bridge)
    more: float = weights.fit * fits**weights.fit_power
    if SPIRE in tower:
        return 2 * (len(tower) + more)
    height = len(tower) + more
    chance = min(1.0, weights.spire * coming.count(SPIRE))
    return height + chance * (height + weights.patience)


@lru_cache(maxsize=1 << 15)
def _expected_fits(top: int, coming: Values, eight: str, bridge: float) -> float:
    """Cards that fit on the top, and part of those that a coming 8 or 9 would open."""
    direct = [value for value in coming if can_place(top, value, eight)]
    bridges = [value for value in direct if value in (8, 9)]
    opened = sum(
        not can_place(top, value, eight) and any(can_place(b, value, eight) for b in bridges)
        for value in coming
    )
    return len(direct) + bridge * opened


def table_value(
    towers: tuple[Values, ...],
    demolished: int,
    coming: tuple[Values, ...],
    eight: str,
    weights: Weights,
) -> float:
    """The value of all cards before one seat."""
    total = float(max(map(len, towers)) + penalty(demolished))
    for tower, values in zip(towers, coming, strict=True):
        total += tower_value(tower, values, eight, weights)
    return total
