"""Ratings of people by game, for 2 to 5 players. Pure.

The library is wrapped here alone. Its numbers are rounded before they are kept, so that a rebuild
on another machine does not differ in the last bit.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from openskill.models import BradleyTerryPart

DIGITS: Final = 6
FIRST_POINTS: Final = 1000
POINTS_PER_MU: Final = 40
_MODEL: Final = BradleyTerryPart()


class Rating(msgspec.Struct, frozen=True, array_like=True):
    """An estimate of strength, and how sure it is."""

    mu: float
    sigma: float
    games: int = 0
    change: int = 0
    """By how many points the newest game changed it."""


NEW: Final = Rating(round(_MODEL.mu, DIGITS), round(_MODEL.sigma, DIGITS))


def rated(before: Sequence[Rating], places: Sequence[int]) -> tuple[Rating, ...]:
    """The ratings after a game with these places; equal places are a draw."""
    teams = [[_MODEL.rating(mu=each.mu, sigma=each.sigma)] for each in before]
    after = _MODEL.rate(teams, ranks=[float(place) for place in places])
    return tuple(
        _after(Rating(round(team[0].mu, DIGITS), round(team[0].sigma, DIGITS), old.games + 1), old)
        for team, old in zip(after, before, strict=True)
    )


def _after(new: Rating, old: Rating) -> Rating:
    return msgspec.structs.replace(new, change=points(new) - points(old))


def points(rating: Rating) -> int:
    """The number that people see: strength that is almost certain. A new person has 1000."""
    return FIRST_POINTS + round(POINTS_PER_MU * (rating.mu - 3 * rating.sigma))
