"""FT 3 and the first deal of FT 4."""

from collections import Counter

import pytest

from tests.builders import discarded, new_game, refused, ruined, seed_bytes, standing
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import deck
from towerhall_server.games.five_towers.events import GameStarted, RoundStarted
from towerhall_server.games.five_towers.options import Options

SEATS = pytest.mark.parametrize("seats", [2, 3, 4, 5])


@SEATS
def test_ft3_nobody_begins_with_towers_or_ruins(seats: int) -> None:
    state = new_game(seats)
    assert len(state.table.players) == seats
    for seat in range(seats):
        assert standing(state, seat) == {}
        assert ruined(state, seat) == []
    assert discarded(state) == []


@SEATS
def test_ft3_five_cards_are_shown_and_the_rest_is_the_pile(seats: int) -> None:
    state = new_game(seats)
    assert len(state.display) == 5
    assert len(state.pile) == len(deck(seats)) - 5
    assert (state.round, state.lap, state.phase) == (1, 1, "auction")


@SEATS
def test_ft3_the_start_player_calls_first(seats: int) -> None:
    state = new_game(seats, seed=seats)
    assert state.turn == state.start
    assert GAME.to_act(state) == (state.start,)


@SEATS
def test_ft3_every_seat_can_become_start_player(seats: int) -> None:
    starts = Counter(new_game(seats, seed=seed).start for seed in range(60 * seats))
    assert set(starts) == set(range(seats))
    assert all(25 <= times <= 110 for times in starts.values())


def test_ft3_setup_tells_the_game_and_its_first_round() -> None:
    state = GAME.start(Options(), 4, seed_bytes(7))
    began, dealt = GAME.setup(state)
    assert isinstance(began, GameStarted)
    assert isinstance(dealt, RoundStarted)
    assert (began.seats, began.options, began.cards) == (4, Options(), 110)
    assert (dealt.round, dealt.start, len(dealt.display), dealt.pile) == (1, began.start, 5, 105)


def test_ft3_nothing_can_be_done_before_the_deal() -> None:
    state = GAME.start(Options(), 4, seed_bytes(7))
    assert refused(state, 0, {"command": "bid", "number": 1}).code == "not_your_turn"


def test_ft3_the_same_seed_deals_the_same_game() -> None:
    assert new_game(seed=5) == new_game(seed=5)


def test_ft3_other_seeds_deal_other_games() -> None:
    piles = {(*state.display, *state.pile) for state in (new_game(seed=s) for s in range(50))}
    assert len(piles) == 50


def test_ft3_any_card_can_be_dealt_first() -> None:
    first = {card for seed in range(300) for card in new_game(2, seed=seed).display}
    assert first == set(deck(2))
