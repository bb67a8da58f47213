"""FT 2: the cards and the two decks."""

from collections import Counter

import pytest

from tests.builders import act, build, building, discarded, new_game, standing
from tests.games.five_towers.brute_force import parse
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import KIND_OF, KINDS, VALUE_OF, deck

TWICE = {0, 2, 5, 7, 10, 12}


def test_ft2_there_are_five_kinds() -> None:
    assert set(KINDS) == {"candy", "spooky", "tree", "scrap", "sand"}


@pytest.mark.parametrize("seats", [2, 3])
def test_ft2_two_or_three_play_with_each_value_of_each_kind_once(seats: int) -> None:
    expected = {(kind, value) for kind in KINDS for value in range(16)}
    assert len(deck(seats)) == 80
    assert {parse(card) for card in deck(seats)} == expected


@pytest.mark.parametrize("seats", [4, 5])
def test_ft2_four_or_five_play_with_second_copies_of_six_values(seats: int) -> None:
    assert len(deck(seats)) == 110
    counts = Counter(map(parse, deck(seats)))
    for kind in KINDS:
        for value in range(16):
            assert counts[kind, value] == (2 if value in TWICE else 1)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_ft2_every_card_has_an_id_of_its_own(seats: int) -> None:
    assert len(set(deck(seats))) == len(deck(seats))


@pytest.mark.parametrize("seats", [2, 5])
@pytest.mark.parametrize("value", [8, 9])
def test_ft2_each_kind_has_exactly_one_8_and_one_9(seats: int, value: int) -> None:
    kinds = [kind for kind, found in map(parse, deck(seats)) if found == value]
    assert sorted(kinds) == sorted(KINDS)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_ft2_the_whole_deck_is_dealt_from(seats: int) -> None:
    state = new_game(seats)
    assert sorted((*state.pile, *state.display)) == sorted(deck(seats))


def test_ft2_an_id_says_kind_and_value() -> None:
    for card in deck(5):
        assert (KINDS[KIND_OF[card]], VALUE_OF[card]) == parse(card)


def test_ft2_both_copies_are_built_alike() -> None:
    plain = building("sand:7 sand:7+", {"sand": (12,)}, number=1)
    first, second = act(plain, 0, build("sand:7")), act(plain, 0, build("sand:7+"))
    assert standing(first) == standing(second) == {"sand": (12, 7)}
    assert discarded(first) == discarded(second) == ["sand:7"]


def test_ft2_of_two_copies_the_plain_one_is_offered_first() -> None:
    one = GAME.offers(building("sand:7 sand:7+", number=1), Seat(0))
    assert [command["cards"] for command in one[0].commands()] == [["sand:7"]]
    both = GAME.offers(building("sand:7+ sand:9 sand:7"), Seat(0))
    assert [command["cards"] for command in both[0].commands()] == [["sand:7", "sand:9", "sand:7+"]]
