"""What the better bots think a tower is worth, in every variant of the 8 and the spire."""

import pytest

from towerhall_server.games.five_towers.bots.value import Weights, table_value, tower_value

WEIGHTS = Weights(fit=1.0, fit_power=1.0, bridge=0.5, spire=0.25, patience=2.0)


def value(tower: tuple[int, ...], coming: tuple[int, ...], eight: str = "base") -> float:
    return tower_value(tower, coming, eight, WEIGHTS)


def test_a_finished_tower_is_worth_its_points() -> None:
    assert value((12, 5, 0), (1, 2, 3, 8, 9)) == 6


def test_a_tower_to_which_nothing_can_come_is_worth_its_cards() -> None:
    assert value((12, 5), ()) == 2


def test_cards_that_fit_and_a_chance_of_a_spire_add_to_it() -> None:
    # Two of three fit on the 5, the spire among them.
    assert value((12, 5), (0, 3, 7)) == (2 + 2) + 0.25 * (2 + 2 + 2)


@pytest.mark.parametrize(("top", "coming", "fits"), [(5, (9, 7, 6), 2), (10, (8, 15, 12), 2)])
def test_half_of_what_a_coming_9_or_8_would_open_is_counted(
    top: int, coming: tuple[int, ...], fits: float
) -> None:
    assert value((top,), coming) == 1 + fits


def test_under_the_cap_an_8_opens_a_finished_tower_again() -> None:
    assert value((10, 0), (8, 7, 3), "base") == 4
    assert value((10, 0), (8, 7, 3), "cap") == 2 * (2 + 1 + 0.5 * 2)


def test_under_the_cap_a_spire_counts_double_wherever_it_lies() -> None:
    assert value((10, 0, 8), (), "cap") == 6
    assert value((10, 0, 8), (7,), "cap") == 8


def test_a_table_adds_its_tallest_tower_and_the_cost_of_its_ruins() -> None:
    towers = ((12, 5), (), (9, 0), (), ())
    nothing = ((),) * 5
    assert table_value(towers, 2, nothing, "base", WEIGHTS) == 2 + 4 + 2 - 3
