"""FT 5: who calls when, what may be called, and who wins."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import act, bid, call, discarded, pass_, plain, refused, table, told
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.events import (
    AuctionEmpty,
    AuctionWon,
    BidMade,
    DisplayCleared,
    Passed,
    RoundStarted,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"
SHORT = "sand:7 candy:14 tree:3"


def test_ft5_start_player_cannot_pass() -> None:
    assert refused(table(display=FIVE), 0, pass_()).code == "start_player_must_bid"


@pytest.mark.parametrize("number", range(6))
def test_ft5_start_player_names_any_number_up_to_the_display(number: int) -> None:
    events = told(table(display=FIVE), 0, bid(number))
    assert events[0] == BidMade(Seat(0), number)


@pytest.mark.parametrize("number", [-1, 6, 7, 100])
def test_ft5_no_number_lies_outside_the_display(number: int) -> None:
    answer = refused(table(display=FIVE), 0, bid(number))
    assert (answer.code, answer.params) == ("bid_out_of_range", {"most": 5})


@pytest.mark.parametrize("number", range(1, 4))
def test_ft5_the_others_must_name_more_than_the_highest(number: int) -> None:
    state = table(display=FIVE, calls=(3,))
    answer = refused(state, 1, bid(number))
    assert (answer.code, answer.params) == ("bid_too_low", {"highest": 3})


def test_ft5_a_lower_call_in_between_does_not_count_as_the_highest() -> None:
    state = table(display=FIVE, calls=(1, 3, PASS))
    assert refused(state, 3, bid(2)).code == "bid_too_low"
    assert refused(state, 3, bid(3)).code == "bid_too_low"
    assert act(state, 3, bid(4)).turn == 3


def test_ft5_0_is_never_available_to_the_others() -> None:
    assert refused(table(display=FIVE, calls=(0,)), 1, bid(0)).code == "bid_too_low"


def test_ft5_jumps_are_allowed() -> None:
    assert call(table(display=FIVE, calls=(0,)), 4).turn == 2


@pytest.mark.parametrize("start", range(4))
def test_ft5_calls_go_round_clockwise_from_the_start_player(start: int) -> None:
    state = table(display=FIVE, start_seat=start)
    for step, number in enumerate((0, 1, PASS)):
        assert state.turn == (start + step) % 4
        state = call(state, number)
    assert state.turn == (start + 3) % 4


@pytest.mark.parametrize("seat", [0, 2, 3])
def test_ft5_only_the_seat_whose_turn_it_is_may_call(seat: int) -> None:
    state = table(display=FIVE, calls=(1,))
    for command in (bid(2), pass_()):
        answer = refused(state, seat, command)
        assert (answer.code, answer.params) == ("not_your_turn", {"turn": 1})


def test_ft5_nobody_calls_twice() -> None:
    won = call(table(display=FIVE), 1, PASS, 2, PASS)
    assert (won.phase, won.turn) == ("build", 2)
    for seat in range(4):
        assert refused(won, seat, bid(3)).code == "wrong_phase"
        assert refused(won, seat, pass_()).code == "wrong_phase"


def test_ft5_the_auction_ends_when_everybody_has_called() -> None:
    state = table(display=FIVE, calls=(1, 2, PASS))
    assert told(state, 3, bid(4)) == (BidMade(Seat(3), 4), AuctionWon(Seat(3), 4))
    assert told(state, 3, pass_()) == (Passed(Seat(3)), AuctionWon(Seat(1), 2))


@pytest.mark.parametrize("before", [(), (0,), (2, PASS), (1, 2, 3)])
def test_ft5_naming_all_cards_ends_the_auction_at_once(before: tuple[int, ...]) -> None:
    state = table(display=FIVE, calls=before)
    seat = Seat(len(before))
    assert told(state, seat, bid(5)) == (BidMade(seat, 5), AuctionWon(seat, 5))


@pytest.mark.parametrize("before", [(), (0,), (1, PASS)])
def test_ft5_a_short_display_is_all_that_can_be_named(before: tuple[int, ...]) -> None:
    state = table(display=SHORT, calls=before, lap=2, pile="")
    seat = Seat(len(before))
    answer = refused(state, seat, bid(4))
    assert (answer.code, answer.params) == ("bid_out_of_range", {"most": 3})
    assert told(state, seat, bid(3)) == (BidMade(seat, 3), AuctionWon(seat, 3))


def test_ft5_0_and_passes_leave_the_round_without_a_build() -> None:
    state = table(display=FIVE, start_seat=2, calls=(0, PASS, PASS))
    events = told(state, 1, pass_())
    passed, empty, cleared, dealt = events
    assert (passed, empty) == (Passed(Seat(1)), AuctionEmpty())
    assert cleared == DisplayCleared(state.display)
    assert isinstance(dealt, RoundStarted)
    after = GAME.play(state, events)
    assert after.table.players == state.table.players
    assert discarded(after) == plain(state.display)
    assert (after.start, after.turn, after.round, after.phase) == (2, 2, 2, "auction")


def test_ft5_0_and_then_a_number_is_an_ordinary_win() -> None:
    won = call(table(display=FIVE), 0, PASS, 1, PASS)
    assert (won.phase, won.turn) == ("build", 2)
    assert GAME.offers(won, Seat(2))[0].count() == 5


def test_ft5_start_player_wins_when_all_others_pass() -> None:
    won = call(table(display=FIVE, start_seat=3), 2, PASS, PASS, PASS)
    assert (won.phase, won.turn) == ("build", 3)


def test_ft5_only_the_winner_may_build() -> None:
    won = call(table(display=FIVE), 0, 1, PASS, PASS)
    command = {"command": "build", "cards": ["sand:7"]}
    for seat in (0, 2, 3):
        assert refused(won, seat, command).code == "not_your_turn"
    assert act(won, 1, command).round == 2


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_ft5_every_number_of_seats_calls_once_round(seats: int) -> None:
    state = table(display=FIVE, seats=seats, start_seat=1, calls=(1,))
    won = call(state, *(PASS,) * (seats - 1))
    assert (won.phase, won.turn) == ("build", 1)


@given(st.data())
def test_ft5_the_highest_number_wins_whatever_is_called(data: st.DataObject) -> None:
    seats = data.draw(st.integers(2, 5), "seats")
    start = data.draw(st.integers(0, seats - 1), "start")
    cards = FIVE.split()[: data.draw(st.integers(1, 5), "shown")]
    options = Options(bids=data.draw(st.sampled_from(("strict", "table")), "bids"))
    state = table(display=" ".join(cards), seats=seats, start_seat=start, options=options)
    highest, winner = -1, -1
    for turn in range(seats):
        seat = (start + turn) % seats
        assert (state.phase, state.turn) == ("auction", seat)
        _check_offers(state, highest)
        numbers = [*range(highest + 1, len(cards) + 1), *([PASS] if turn else [])]
        number = data.draw(st.sampled_from(numbers), "call")
        before, state = state, call(state, number)
        if number != PASS:
            highest, winner = number, seat
        if highest == len(cards):
            break
    if highest == 0:
        assert (state.round, state.start, state.phase) == (2, start, "auction")
        assert discarded(state) == plain(before.display)
    else:
        assert (state.phase, state.turn) == ("build", winner)
        assert refused(state, winner, {"command": "build", "cards": []}).params == {
            "number": highest
        }


def _check_offers(state: State, highest: int) -> None:
    offered: Any = [c for offer in GAME.offers(state, state.turn) for c in offer.commands()]
    numbers = [command["number"] for command in offered if command["command"] == "bid"]
    assert numbers == list(range(highest + 1, len(state.display) + 1))
    assert ({"command": "pass"} in offered) == (highest >= 0)
