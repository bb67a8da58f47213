"""FT 7 with `bids: table`: a winning bid that cannot be built is taken back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.builders import (
    FINISHED,
    act,
    bid,
    build,
    call,
    new_game,
    pass_,
    refused,
    shown,
    standing,
    table,
    told,
    walk,
)
from tests.games.five_towers.brute_force import Towers, most
from towerhall_protocol.offers import Offer, Range
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import KINDS
from towerhall_server.games.five_towers.events import (
    AuctionEmpty,
    AuctionWon,
    BidMade,
    BidWithdrawn,
    Passed,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

TABLE = Options(bids="table", auto_pass=False)
FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"
HIGH = ("sand:10", "candy:14", "tree:13", "scrap:15", "spooky:11")
BLOCKED = ((0,), (2, 1), (4, 3), (6, 5), (0,))
"""For each seat a tower that none of the high cards fits on, not even after a demolition."""
TWO_LEFT: Towers = {"candy": (0,), "spooky": (0,), "tree": (0,)}


def numbers(state: State) -> list[int]:
    """The numbers that the seat whose turn it is may name, by trying all of them."""
    found = [n for n in range(-1, 8) if isinstance(GAME.decide(state, state.turn, bid(n)), tuple)]
    offered = [o for o in GAME.offers(state, state.turn) if o.command == "bid"]
    assert offered == ([Offer("bid", {"number": Range(found[0], found[-1])})] if found else [])
    return found


def test_ft7_table_an_infeasible_bid_is_not_refused() -> None:
    state = table(display=FIVE, towers={0: FINISHED}, options=TABLE)
    assert numbers(state) == [0, 1, 2, 3, 4, 5]
    assert told(state, 0, bid(4)) == (BidMade(Seat(0), 4),)


def test_ft7_table_a_feasible_win_is_an_ordinary_build() -> None:
    state = table(display=FIVE, calls=(1, 3, PASS), options=TABLE)
    assert told(state, 3, pass_()) == (Passed(Seat(3)), AuctionWon(Seat(1), 3))


def test_ft7_table_an_infeasible_win_is_taken_back_at_once() -> None:
    state = table(display=FIVE, towers={2: TWO_LEFT}, calls=(1, PASS, 4), options=TABLE)
    events = told(state, 3, pass_())
    assert events == (Passed(Seat(3)), BidWithdrawn(Seat(2), 4, 2))
    after = GAME.play(state, events)
    assert shown(after)["calls"] == {"0": 1, "1": PASS}
    assert (after.phase, after.turn, after.table.players) == ("auction", 2, state.table.players)
    assert shown(after)["limits"] == {"2": 4}


def test_ft7_table_naming_all_cards_without_being_able_is_taken_back_too() -> None:
    state = table(display=FIVE, towers={2: TWO_LEFT}, calls=(1, 2), options=TABLE)
    assert told(state, 2, bid(5)) == (BidMade(Seat(2), 5), BidWithdrawn(Seat(2), 5, 2))


def test_ft7_table_seats_after_the_withdrawn_call_are_asked_afresh() -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, options=TABLE)
    back = call(state, 1, 4, PASS, PASS)
    assert back.turn == 1
    again = call(back, 2)
    assert again.turn == 2
    assert numbers(again) == [3, 4, 5]
    won = call(again, 3, PASS)
    assert (won.phase, won.turn) == ("build", 2)


def test_ft7_table_calls_before_the_withdrawn_one_stand() -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, options=TABLE)
    won = call(state, 3, 5, PASS, PASS, PASS)
    assert (won.phase, won.turn) == ("build", 0)


@pytest.mark.parametrize("number", [4, 5])
def test_ft7_table_the_corrected_number_is_lower_than_the_withdrawn_one(number: int) -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, options=TABLE)
    back = call(state, 1, 4, PASS, PASS)
    answer = refused(back, 1, bid(number))
    assert (answer.code, answer.params) == ("bid_not_lowered", {"limit": 4})
    assert numbers(back) == [2, 3]


def test_ft7_table_the_corrected_number_still_goes_above_the_remaining_highest() -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, options=TABLE)
    back = call(state, 2, 5)
    assert refused(back, 1, bid(2)).code == "bid_too_low"
    assert numbers(back) == [3, 4]


def test_ft7_table_the_start_player_may_correct_to_anything_from_0() -> None:
    state = table(display=FIVE, towers={0: TWO_LEFT}, start_seat=0, options=TABLE)
    back = call(state, 5)
    assert (back.turn, back.calls) == (0, ())
    assert refused(back, 0, pass_()).code == "start_player_must_bid"
    assert numbers(back) == [0, 1, 2, 3, 4]


def test_ft7_table_a_start_player_that_took_back_1_can_only_name_0() -> None:
    state = table(display=FIVE, towers={0: FINISHED}, options=TABLE)
    back = call(state, 1, PASS, PASS, PASS)
    assert numbers(back) == [0]
    assert refused(back, 0, pass_()).code == "start_player_must_bid"
    assert told(call(back, 0, PASS, PASS), 3, pass_())[1] == AuctionEmpty()


def test_ft7_table_a_seat_may_be_left_with_nothing_but_a_pass() -> None:
    state = table(display=FIVE, towers={1: FINISHED}, options=TABLE)
    back = call(state, 2, 3, PASS, PASS)
    assert numbers(back) == []
    assert GAME.offers(back, Seat(1)) == (Offer("pass"),)
    assert call(back, PASS).turn == 2


def test_ft7_table_the_limit_outlasts_the_withdrawal_of_an_earlier_seat() -> None:
    state = table(display=FIVE, towers={0: FINISHED, 2: TWO_LEFT}, options=TABLE)
    second = call(state, 3, PASS, 4, PASS)
    assert (second.turn, shown(second)["limits"]) == (2, {"2": 4})
    first = call(second, PASS, PASS)
    assert (first.turn, shown(first)["limits"]) == (0, {"0": 3, "2": 4})
    asked = call(first, 0, 1)
    assert asked.turn == 2
    assert numbers(asked) == [2, 3]


def test_ft7_table_the_limit_ends_with_the_round() -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, options=TABLE)
    won = call(state, 1, 5, PASS, PASS, PASS)
    dealt = act(won, 0, build("sand:7"))
    assert "limits" not in shown(dealt)
    assert numbers(call(dealt)) == [0, 1, 2, 3, 4, 5]


def test_ft7_table_an_infeasible_bid_that_is_outbid_stands() -> None:
    state = table(display=FIVE, towers={0: FINISHED}, options=TABLE)
    won = call(state, 4, 5)
    assert (won.phase, won.turn) == ("build", 1)
    assert shown(won)["calls"] == {"0": 4, "1": 5}


def test_ft7_table_a_wrong_choice_of_cards_does_not_reopen_the_auction() -> None:
    won = call(table(display=FIVE, towers={0: TWO_LEFT}, options=TABLE), 2, PASS, PASS, PASS)
    assert refused(won, 0, build("tree:3 sand:7")).code == "building_rule"
    assert standing(act(won, 0, build("scrap:15 sand:7")))["sand"] == (7,)


def test_ft7_table_equals_strict_as_long_as_no_infeasible_bid_is_made() -> None:
    for seed in range(4):
        strict = new_game(3, Options(auto_pass=False), seed)
        for step in walk(GAME, strict, ("random",) * 3, seed):
            loose = replace(step.before, options=TABLE)
            answer = GAME.decide(loose, step.seat, step.command)
            assert answer == step.events


class Model:
    """The auction of FT 7 from the text alone: who may call what, and how it ends."""

    def __init__(self, seats: int, start: int, size: int, possible: list[int]) -> None:
        self.order = [(start + turn) % seats for turn in range(seats)]
        self.size, self.possible = size, possible
        self.calls: list[int] = []
        self.limits = dict.fromkeys(range(seats), size + 1)
        self.withdrawn = dict.fromkeys(range(seats), 0)
        self.builder: int | None = None
        self.over = False

    @property
    def turn(self) -> int:
        return self.order[len(self.calls)]

    def legal(self) -> list[int]:
        highest = max(self.calls, default=PASS)
        most = min(self.size, self.limits[self.turn] - 1)
        return list(range(highest + 1, most + 1))

    def call(self, number: int) -> None:
        self.calls.append(number)
        highest = max(self.calls)
        if len(self.calls) < len(self.order) and highest < self.size:
            return
        at = self.calls.index(highest)
        winner = self.order[at]
        if highest > self.possible[winner]:
            del self.calls[at:]
            self.limits[winner] = highest
            self.withdrawn[winner] += 1
            return
        self.over = True
        self.builder = winner if highest else None


@settings(max_examples=150)
@given(st.data())
def test_ft7_table_auctions_follow_the_text_whatever_is_called(data: st.DataObject) -> None:
    seats = data.draw(st.integers(2, 5), "seats")
    start = data.draw(st.integers(0, seats - 1), "start")
    display = HIGH[: data.draw(st.integers(1, 5), "shown")]
    some_kinds = st.sets(st.sampled_from(KINDS))
    towers: dict[int, Towers] = {
        seat: dict.fromkeys(sorted(data.draw(some_kinds, "blocked")), BLOCKED[seat])
        for seat in range(seats)
    }
    state = table(
        display=" ".join(display), towers=towers, seats=seats, start_seat=start, options=TABLE
    )
    possible = [most(towers[seat], display, TABLE) for seat in range(seats)]
    model = Model(seats, start, len(display), possible)
    while not model.over:
        assert (state.phase, state.turn) == ("auction", model.turn)
        assert numbers(state) == model.legal()
        options = [*model.legal(), *([PASS] if model.calls else [])]
        number = data.draw(st.sampled_from(options), "call")
        state = call(state, number)
        model.call(number)
        if not model.over:
            expected = {str(model.order[at]): call for at, call in enumerate(model.calls)}
            assert shown(state)["calls"] == expected
    if model.builder is None:
        assert (state.round, state.start, state.turn) == (2, start, start)
    else:
        assert (state.phase, state.turn) == ("build", model.builder)
    assert max(model.withdrawn.values()) <= len(display)
