"""FT 14: commands, the order in which they are checked, and every way to be refused."""

from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.builders import (
    act,
    bid,
    bot_game,
    build,
    building,
    call,
    new_game,
    pass_,
    play_out,
    refused,
    standing,
    table,
    told,
)
from towerhall_server.game import Rejected, Seat, read_options
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.events import AuctionWon, BidMade, Passed
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.rejections import REASONS
from towerhall_server.games.five_towers.state import PASS, State

FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"
TABLE = Options(bids="table")


@cache
def at(moment: str) -> State:
    """The moments at which commands are tried."""
    match moment:
        case "start":
            return table(display=FIVE)
        case "auction":
            return table(display=FIVE, towers={1: {"sand": (0,)}}, calls=(2,))
        case "rolled back":
            towers = {1: {"sand": (0,)}}
            return call(table(display=FIVE, towers=towers, options=TABLE), 2, 5)
        case "build":
            return building(FIVE, {"sand": (5,), "tree": (9, 0)}, number=2)
    return play_out(new_game(2), ("random", "random"))


class Case(NamedTuple):
    """A command that must be refused."""

    code: str
    params: dict[str, int | str]
    moment: str
    seat: int
    command: object


CASES = [
    Case("wrong_phase", {"phase": "auction"}, "auction", 1, build("sand:7")),
    Case("wrong_phase", {"phase": "build"}, "build", 0, bid(3)),
    Case("wrong_phase", {"phase": "build"}, "build", 0, pass_()),
    Case("wrong_phase", {"phase": "over"}, "over", 0, bid(1)),
    Case("wrong_phase", {"phase": "over"}, "over", 1, pass_()),
    Case("wrong_phase", {"phase": "over"}, "over", 0, build("sand:7")),
    Case("not_your_turn", {"turn": 1}, "auction", 0, bid(3)),
    Case("not_your_turn", {"turn": 1}, "auction", 2, pass_()),
    Case("not_your_turn", {"turn": 0}, "build", 1, build("tree:3")),
    Case("bid_out_of_range", {"most": 5}, "auction", 1, bid(6)),
    Case("bid_out_of_range", {"most": 5}, "auction", 1, bid(-1)),
    Case("bid_too_low", {"highest": 2}, "auction", 1, bid(2)),
    Case("bid_too_low", {"highest": 2}, "auction", 1, bid(0)),
    Case("start_player_must_bid", {}, "start", 0, pass_()),
    Case("bid_infeasible", {"most": 4}, "auction", 1, bid(5)),
    Case("bid_not_lowered", {"limit": 5}, "rolled back", 1, bid(5)),
    Case("wrong_number_of_cards", {"number": 2}, "build", 0, build("candy:14")),
    Case("wrong_number_of_cards", {"number": 2}, "build", 0, build(FIVE)),
    Case("duplicate_card", {"index": 1}, "build", 0, build("candy:14 candy:14")),
    Case("card_not_in_display", {"index": 0}, "build", 0, build("candy:13 candy:14")),
    Case("card_not_in_display", {"index": 1}, "build", 0, build("candy:14 nonsense")),
    Case("card_not_in_display", {"index": 1}, "build", 0, build("candy:14 sand:7+")),
    Case("cannot_demolish", {}, "build", 0, build("candy:14 scrap:15", demolish="tree")),
    Case("cannot_demolish", {}, "build", 0, build("candy:14 scrap:15", demolish="candy")),
    Case("cannot_demolish", {}, "build", 0, build("candy:14 scrap:15", demolish="castle")),
    Case("building_rule", {"index": 1, "top": 5}, "build", 0, build("candy:14 sand:7")),
    Case("building_rule", {"index": 0, "top": 0}, "build", 0, build("tree:3 candy:14")),
]  # fmt: skip
MALFORMED: list[object] = [
    None,
    {},
    "bid",
    ["bid", 3],
    {"command": "resign"},
    {"command": "bid"},
    {"command": "bid", "number": "3"},
    {"command": "bid", "number": True},
    {"command": "bid", "number": 3.0},
    {"command": "bid", "number": 3, "seat": 1},
    {"command": "pass", "number": 3},
    {"command": "build"},
    {"command": "build", "cards": "sand:7"},
    {"command": "build", "cards": [7]},
    {"command": "build", "cards": ["sand:7"], "demolish": 4},
    {"command": "build", "cards": ["sand:7"] * 1000},
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_ft14_a_refusal_has_its_code_and_its_parameters(case: Case) -> None:
    answer = refused(at(case.moment), case.seat, case.command)
    assert (answer.code, answer.params) == (case.code, case.params)


@pytest.mark.parametrize("command", MALFORMED)
@pytest.mark.parametrize("moment", ["auction", "build", "over"])
def test_ft14_what_is_no_command_is_refused_in_every_phase(moment: str, command: object) -> None:
    for seat in (0, 1):
        answer = refused(at(moment), seat, command)
        assert answer.code == "bad_command"
        assert answer.params.keys() == {"detail"}


@pytest.mark.parametrize(
    "wanted",
    [None, [], "printed", {"preset": "mine"}, {"bids": "loud"}, {"eight": 8}, {"extra": True}],
)
def test_ft14_options_that_do_not_exist_are_refused(wanted: object) -> None:
    answer = read_options(GAME, wanted)
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.rule) == ("bad_options", "12")


def test_ft14_every_reason_is_reached() -> None:
    reached = {case.code for case in CASES} | {"bad_command", "bad_options"}
    assert reached == set(REASONS) == set(GAME.reasons)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_ft14_hints_can_be_filled_in(case: Case) -> None:
    hint = REASONS[case.code].hint.format(**case.params)
    assert "{" not in hint
    assert all(str(value) in hint for value in case.params.values())


# --- the order of checks ---


def test_ft14_shape_phase_and_turn_are_checked_in_this_order() -> None:
    assert refused(at("auction"), 0, {"command": "build", "cards": [7]}).code == "bad_command"
    assert refused(at("auction"), 0, build("sand:7")).code == "wrong_phase"
    assert refused(at("auction"), 0, bid(99)).code == "not_your_turn"
    assert refused(at("build"), 1, build()).code == "not_your_turn"


def test_ft14_a_bid_is_checked_for_range_highest_limit_and_feasibility_in_this_order() -> None:
    assert refused(at("auction"), 1, bid(6)).code == "bid_out_of_range"
    low = table(display=FIVE, towers={1: {"sand": (0,), "tree": (0,)}}, calls=(4,))
    assert refused(low, 1, bid(4)).code == "bid_too_low"
    assert refused(low, 1, bid(5)).code == "bid_infeasible"
    assert refused(at("rolled back"), 1, bid(6)).code == "bid_out_of_range"
    assert refused(at("rolled back"), 1, bid(1)).code == "bid_too_low"


@pytest.mark.parametrize(
    ("command", "code", "index"),
    [
        # Everything is wrong; then from case to case one thing less.
        (build("x x x", demolish="tree"), "wrong_number_of_cards", None),
        (build("x x", demolish="tree"), "duplicate_card", 1),
        (build("sand:7 x", demolish="tree"), "card_not_in_display", 1),
        (build("x sand:7", demolish="tree"), "card_not_in_display", 0),
        (build("candy:14 sand:7", demolish="tree"), "cannot_demolish", None),
        (build("candy:14 sand:7"), "building_rule", 1),
        (build("sand:7 candy:14"), "building_rule", 0),
        (build("tree:3 sand:7"), "building_rule", 0),
    ],
)
def test_ft14_a_build_is_checked_in_order_and_the_first_failure_is_named(
    command: object, code: str, index: int | None
) -> None:
    answer = refused(at("build"), 0, command)
    assert (answer.code, answer.params.get("index")) == (code, index)


def test_ft14_of_several_duplicates_the_first_repetition_is_named() -> None:
    state = building(FIVE, number=5)
    answer = refused(state, 0, build("sand:7 tree:3 tree:3 sand:7 tree:3"))
    assert (answer.code, answer.params) == ("duplicate_card", {"index": 2})


def test_ft14_the_top_named_is_the_one_at_that_moment() -> None:
    state = building("sand:7 sand:10 sand:12", {"sand": (15,)})
    answer = refused(state, 0, build("sand:12 sand:7 sand:10"))
    assert (answer.code, answer.params) == ("building_rule", {"index": 2, "top": 7})
    lowered = building("sand:7", {"sand": (6, 5)})
    assert refused(lowered, 0, build("sand:7", demolish="sand")).params["top"] == 6


# --- accepted commands ---


def test_ft14_calls_made_by_a_player_are_not_marked_as_forced() -> None:
    assert told(at("auction"), 1, bid(3)) == (BidMade(Seat(1), 3, forced=False),)
    assert told(at("auction"), 1, pass_()) == (Passed(Seat(1), forced=False),)


def test_ft14_demolish_may_be_null_or_left_out() -> None:
    cards = ["candy:14", "scrap:15"]
    absent = told(at("build"), 0, {"command": "build", "cards": cards})
    assert absent == told(at("build"), 0, {"command": "build", "cards": cards, "demolish": None})


def test_ft14_the_order_between_kinds_changes_nothing() -> None:
    state = building("sand:7 tree:12 sand:3 tree:2")
    orders = ["sand:7 tree:12 sand:3 tree:2", "tree:12 tree:2 sand:7 sand:3"]
    first, second = (act(state, 0, build(order)) for order in orders)
    assert first == second
    assert standing(first) == {"sand": (7, 3), "tree": (12, 2)}


def test_ft14_a_closing_call_tells_who_won() -> None:
    state = call(table(display=FIVE), 2, PASS, PASS)
    assert told(state, 3, pass_()) == (Passed(Seat(3)), AuctionWon(Seat(0), 2))


# --- time-outs ---


def test_ft14_a_time_out_declines_in_the_auction() -> None:
    assert GAME.timeout(table(display=FIVE), Seat(0)) == bid(0)
    assert GAME.timeout(at("auction"), Seat(1)) == pass_()


def test_ft14_a_time_out_builds_without_demolition_if_that_is_possible() -> None:
    for seed in range(8):
        for step in bot_game("random", 4, seed):
            if step.before.phase != "build":
                continue
            (offer,) = GAME.offers(step.before, step.seat)
            spared = [c for c in offer.commands() if c.get("demolish") is None]
            command = GAME.timeout(step.before, step.seat)
            assert (command.get("demolish") is None) == bool(spared)
            told(step.before, step.seat, command)


def test_ft14_of_two_equally_good_builds_a_time_out_takes_the_one_without_demolition() -> None:
    display = "sand:0 sand:15 sand:14 tree:3 candy:3"
    state = building(display, {"sand": (12, 8, 1)}, number=3)
    (offer,) = GAME.offers(state, Seat(0))
    best = [c for c, effect in offer.with_effects() if effect == {"score": 14}]
    assert {command.get("demolish") for command in best} == {None, "sand"}
    assert GAME.timeout(state, Seat(0)).get("demolish") is None


@pytest.mark.parametrize("options", [Options(), TABLE])
def test_ft14_time_outs_alone_finish_a_game(options: Options) -> None:
    state = new_game(3, options)
    while acting := GAME.to_act(state):
        state = act(state, acting[0], GAME.timeout(state, acting[0]))
    assert state.round == 32


def test_ft14_a_seat_that_is_out_of_time_builds_for_the_most_points() -> None:
    for seed in range(6):
        for step in bot_game("random", 4, seed):
            if step.before.phase != "build":
                continue
            (offer,) = GAME.offers(step.before, step.seat)
            chosen = GAME.timeout(step.before, step.seat)
            scores: dict[bool, list[Any]] = {True: [], False: []}
            for command, effect in offer.with_effects():
                scores["demolish" in command].append(effect["score"])
                if command == chosen:
                    score = effect["score"]
            assert score == max(scores[False] or scores[True])
