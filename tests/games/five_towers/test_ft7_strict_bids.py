"""FT 7 with `bids: strict`: nobody names more than could be built."""

import pytest
from hypothesis import given

from tests.builders import FINISHED, act, bid, bot_game, call, pass_, refused, standing, table, told
from tests.games.five_towers.brute_force import most
from tests.games.five_towers.strategies import Plan, plans
from towerhall_protocol.offers import Offer, Range
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.events import AuctionWon, BidMade, BidWithdrawn
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS

MANUAL = Options(auto_pass=False)
FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"
TWO_LEFT = {"candy": (0,), "spooky": (0,), "tree": (0,)}


@pytest.mark.parametrize("number", [3, 4, 5])
def test_ft7_a_bid_that_cannot_be_built_is_refused(number: int) -> None:
    state = table(display=FIVE, towers={0: TWO_LEFT})
    answer = refused(state, 0, bid(number))
    assert (answer.code, answer.params) == ("bid_infeasible", {"most": 2})


@pytest.mark.parametrize("number", [0, 1, 2])
def test_ft7_every_number_that_can_be_built_may_be_named(number: int) -> None:
    state = table(display=FIVE, towers={0: TWO_LEFT})
    assert told(state, 0, bid(number))[0] == BidMade(Seat(0), number)


def test_ft7_one_demolition_is_counted_in() -> None:
    state = table(display=FIVE, towers={0: {"sand": (12, 6)}})
    assert told(state, 0, bid(5))[-1] == AuctionWon(Seat(0), 5)


def test_ft7_only_one_demolition_is_counted_in() -> None:
    state = table(display=FIVE, towers={0: {"sand": (12, 6), "candy": (15, 13)}})
    assert refused(state, 0, bid(5)).params == {"most": 4}


def test_ft7_what_is_possible_does_not_depend_on_the_calls() -> None:
    for calls in ((), (0,), (0, 1), (0, 1, PASS)):
        seat = len(calls)
        state = table(display=FIVE, towers={seat: TWO_LEFT}, calls=calls)
        assert refused(state, seat, bid(4)).params == {"most": 2}


def test_ft7_too_low_is_said_before_infeasible() -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, calls=(3,), options=MANUAL)
    assert refused(state, 1, bid(3)).code == "bid_too_low"
    assert refused(state, 1, bid(4)).code == "bid_infeasible"


def test_ft7_a_seat_that_cannot_build_more_can_only_pass() -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, calls=(2,), options=MANUAL)
    assert GAME.offers(state, Seat(1)) == (Offer("pass"),)
    for number in range(6):
        refused(state, 1, bid(number))
    assert act(state, 1, pass_()).turn == 2


def test_ft7_a_start_player_that_can_build_nothing_can_only_name_0() -> None:
    state = table(display=FIVE, towers={0: FINISHED}, options=MANUAL)
    assert GAME.offers(state, Seat(0)) == (Offer("bid", ranges={"number": Range(0, 0)}),)
    assert refused(state, 0, bid(1)).params == {"most": 0}
    assert refused(state, 0, pass_()).code == "start_player_must_bid"
    assert act(state, 0, bid(0)).turn == 1


def test_ft7_a_winning_bid_can_always_be_built() -> None:
    for seed in range(5):
        for step in bot_game("random", 4, seed):
            assert not any(isinstance(event, BidWithdrawn) for event in step.events)
            if step.after.phase == "build":
                assert GAME.offers(step.after, step.after.turn)[0].count() > 0


def test_ft7_a_wrong_choice_of_cards_is_refused_and_can_be_repeated() -> None:
    won = call(table(display=FIVE, towers={0: TWO_LEFT}), 2, PASS, PASS, PASS)
    wrong = {"command": "build", "cards": ["tree:3", "sand:7"]}
    assert refused(won, 0, wrong).code == "building_rule"
    right = {"command": "build", "cards": ["scrap:15", "sand:7"]}
    assert standing(act(won, 0, right))["scrap"] == (15,)


@given(plans())
def test_ft7_exactly_the_numbers_that_can_be_built_are_accepted(plan: Plan) -> None:
    state = table(display=plan.text, towers={0: plan.towers}, options=plan.options)
    possible = most(plan.towers, plan.display, plan.options)
    for number in range(len(plan.display) + 1):
        if number <= possible:
            assert told(state, 0, bid(number))[0] == BidMade(Seat(0), number)
        else:
            assert refused(state, 0, bid(number)).params == {"most": possible}
