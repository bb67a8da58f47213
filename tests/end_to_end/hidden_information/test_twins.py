"""Twins cannot be told apart before a card is turned over that differs."""

import pytest

from tests.end_to_end.hidden_information.twins import DUEL, TIMED_TOWERS, TOWERS, Cast, twins

NEVER = 2.0
SWAPS = (0.0, 0.15, 0.3, 0.5, 0.8, NEVER)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("cast", [TOWERS, TIMED_TOWERS, DUEL], ids=["towers", "timed", "duel"])
async def test_twins_cannot_be_told_apart_before_a_card_is_turned_over(
    cast: Cast, seed: int
) -> None:
    """All bytes of all viewers are the same, and so are all that the store is asked for."""
    found = [each async for each in twins(cast, seed, SWAPS)]
    assert [complaint for each in found for complaint in each.complaints] == []
    assert found[-1].differ_at is None, "the same room played twice is not the same"
    differing = [each.differ_at for each in found if each.differ_at is not None]
    assert len(set(differing)) > 1, "nothing that was hidden ever came to light: no proof"
