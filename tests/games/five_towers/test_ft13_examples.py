"""FT 13: the worked examples, by their numbers."""

from typing import Any

from tests.builders import (
    FINISHED,
    act,
    bid,
    build,
    building,
    call,
    discarded,
    pass_,
    plain,
    refused,
    ruined,
    shown,
    standing,
    table,
    told,
)
from tests.games.five_towers.brute_force import Towers
from towerhall_protocol.offers import Range
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import KINDS, deck
from towerhall_server.games.five_towers.events import (
    AuctionWon,
    BidMade,
    BidWithdrawn,
    PileReshuffled,
    RoundStarted,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"
CAP = Options(eight="cap")
TABLE = Options(bids="table", auto_pass=False)


def most(display: str, towers: Towers | None = None, options: Options | None = None) -> int:
    """The highest number that a start player with these towers may name."""
    chosen = options or Options(auto_pass=False)
    state = table(display=display, towers={0: towers or {}}, options=chosen)
    numbers: Any = GAME.offers(state, Seat(0))[0].ranges["number"]
    assert isinstance(numbers, Range)
    if numbers.most < len(state.display):
        assert refused(state, 0, bid(numbers.most + 1)).params == {"most": numbers.most}
    return numbers.most


def built(
    display: str,
    towers: Towers,
    cards: str,
    *,
    demolish: str | None = None,
    options: Options | None = None,
) -> State:
    """The table after seat 0 has built the cards in this order."""
    state = building(display, towers, number=len(cards.split()), options=options)
    return act(state, 0, build(cards, demolish=demolish))


def score(towers: Towers, ruins: str = "", options: Options | None = None) -> int:
    state = table(display=FIVE, towers={0: towers}, demolished={0: ruins}, options=options)
    points: int = shown(state)["seats"]["0"]["score"]
    return points


def test_ft13_example_1_the_third_seat_names_5_and_the_fourth_is_not_asked() -> None:
    state = call(table(display=FIVE), 3, PASS)
    assert told(state, 2, bid(5)) == (BidMade(Seat(2), 5), AuctionWon(Seat(2), 5))


def test_ft13_example_2_all_five_fit_after_demolishing_the_6() -> None:
    towers: Towers = {"sand": (12, 6)}
    assert most(FIVE, towers) == 5
    after = built(FIVE, towers, FIVE, demolish="sand")
    assert standing(after) == {
        "sand": (12, 7), "candy": (14,), "tree": (3,), "scrap": (15,), "spooky": (11,),
    }  # fmt: skip
    assert ruined(after) == ["sand:6"]
    assert score({}, "sand:6") == -1
    assert refused(building(FIVE, towers), 0, build(FIVE)).params == {"index": 0, "top": 6}
    assert standing(built(FIVE, towers, "candy:14 tree:3 scrap:15 spooky:11"))["sand"] == (12, 6)


def test_ft13_example_3_strict_refuses_5_when_a_4_lies_on_the_6() -> None:
    assert most(FIVE, {"sand": (12, 6, 4)}) == 4


def test_ft13_example_3_table_rolls_5_back_and_the_fourth_seat_is_asked() -> None:
    state = table(display=FIVE, towers={2: {"sand": (12, 6, 4)}}, options=TABLE)
    state = call(state, 3, PASS)
    events = told(state, 2, bid(5))
    assert events == (BidMade(Seat(2), 5), BidWithdrawn(Seat(2), 5, 2))
    state = call(GAME.play(state, events), 4)
    assert (state.phase, state.turn) == ("auction", 3)
    assert told(state, 3, bid(5))[-1] == AuctionWon(Seat(3), 5)


def test_ft13_example_4_a_finished_tower_takes_no_more_cards() -> None:
    assert most("sand:7 sand:3 candy:14 tree:3 scrap:15", {"sand": (9, 0)}) == 3


def test_ft13_example_5_three_towers_and_two_ruins() -> None:
    towers: Towers = {"sand": (12, 7, 3, 1), "tree": (6, 4, 0), "candy": (15, 12, 8, 7, 2, 0)}
    assert score(towers, "scrap:1 scrap:2") == 4 + 6 + 12 + 6 - 3 == 25


def test_ft13_example_6_five_cards_with_a_spire() -> None:
    after = built("sand:13 sand:7 sand:2 sand:1 sand:0", {}, "sand:13 sand:7 sand:2 sand:1 sand:0")
    assert standing(after) == {"sand": (13, 7, 2, 1, 0)}
    assert score({"sand": (13, 7, 2, 1, 0)}) == 15
    beside: Towers = {"tree": (15, 14, 13, 12, 11, 10)}
    assert score({"sand": (13, 7, 2, 1, 0), **beside}) - score(beside) == 10


SAND = "sand:8 sand:15 sand:3 sand:9 sand:1"


def test_ft13_example_7_all_five_on_a_12() -> None:
    assert most(SAND, {"sand": (12,)}) == 5
    after = built(SAND, {"sand": (12,)}, "sand:8 sand:15 sand:3 sand:9 sand:1")
    assert standing(after) == {"sand": (12, 8, 15, 3, 9, 1)}


def test_ft13_example_8_all_five_on_a_2() -> None:
    assert most(SAND, {"sand": (2,)}) == 5
    after = built(SAND, {"sand": (2,)}, "sand:9 sand:8 sand:15 sand:3 sand:1")
    assert standing(after) == {"sand": (2, 9, 8, 15, 3, 1)}


def test_ft13_example_9_an_8_on_a_2() -> None:
    display = "sand:8 tree:5 candy:5 scrap:5 spooky:5"
    towers: Towers = {"sand": (2,), "tree": (0,), "candy": (0,), "scrap": (0,), "spooky": (0,)}
    assert most(display, towers) == 1
    assert refused(building(display, towers, number=1), 0, build("sand:8")).params["top"] == 2
    assert standing(built(display, towers, "sand:8", demolish="sand"))["sand"] == (8,)
    assert most(display, towers, CAP) == 1
    assert standing(built(display, towers, "sand:8", options=CAP))["sand"] == (2, 8)


def test_ft13_example_10_a_second_7_finds_no_place_beside_an_8() -> None:
    assert most("sand:7 sand:7+ sand:8 tree:2 tree:3") == 4


def test_ft13_example_11_a_9_goes_between_two_7s() -> None:
    display = "sand:7 sand:7+ sand:9 tree:2 tree:3"
    assert most(display) == 5
    after = built(display, {}, "sand:7 sand:9 sand:7+ tree:3 tree:2")
    assert standing(after) == {"sand": (7, 9, 7), "tree": (3, 2)}


def test_ft13_example_12_an_8_goes_between_two_12s_and_a_9_does_not() -> None:
    display = "sand:12 sand:12+ sand:8 tree:2 tree:3"
    assert most(display) == 5
    after = built(display, {}, "sand:12 sand:8 sand:12+ tree:3 tree:2")
    assert standing(after) == {"sand": (12, 8, 12), "tree": (3, 2)}
    assert most("sand:12 sand:12+ sand:9 tree:2 tree:3") == 4


def test_ft13_example_13_two_spires_of_one_kind() -> None:
    display = "sand:0 sand:0+ sand:8 sand:9 sand:1"
    assert most(display) == 4
    assert most(display, options=CAP) == 5
    after = built(display, {}, "sand:9 sand:1 sand:0 sand:8 sand:0+", options=CAP)
    assert standing(after) == {"sand": (9, 1, 0, 8, 0)}


def test_ft13_example_14_one_demolition_helps_one_kind_only() -> None:
    assert most("sand:7 sand:5 tree:7 tree:5 tree:3", {"sand": (1,), "tree": (1,)}) == 3


def test_ft13_example_15_demolishing_the_1_opens_the_8() -> None:
    display = "sand:15 sand:14 sand:13 sand:12 sand:11"
    assert most(display, {"sand": (8, 1)}) == 5
    after = built(display, {"sand": (8, 1)}, display, demolish="sand")
    assert standing(after) == {"sand": (8, 15, 14, 13, 12, 11)}


def test_ft13_example_16_0_and_passes() -> None:
    state = table(display=FIVE, seats=3, start_seat=1)
    after = call(state, 0, PASS, PASS)
    assert discarded(after) == plain(state.display)
    assert [standing(after, seat) for seat in range(3)] == [{}, {}, {}]
    assert (after.start, after.turn, after.round) == (1, 1, 2)


def test_ft13_example_17_0_pass_1() -> None:
    won = call(table(display=FIVE, seats=3, start_seat=1), 0, PASS, 1)
    assert (won.phase, won.turn) == ("build", 0)
    after = act(won, 0, build("tree:3"))
    assert standing(after, 0) == {"tree": (3,)}
    assert (after.start, after.turn) == (1, 1)


def test_ft13_example_18_a_last_display_of_three() -> None:
    state = call(table(display="sand:7 tree:3 candy:1", seats=3, lap=2, pile=""), 1)
    assert refused(state, 1, bid(4)).code == "bid_out_of_range"
    assert told(state, 1, bid(3)) == (BidMade(Seat(1), 3), AuctionWon(Seat(1), 3))


def test_ft13_example_19_two_roll_backs_in_one_round() -> None:
    towers: dict[int, Towers] = {0: FINISHED, 1: {"sand": (12, 6, 4)}}
    state = call(table(display=FIVE, towers=towers, options=TABLE, seats=3), 4)
    first = told(state, 1, bid(5))
    assert first[-1] == BidWithdrawn(Seat(1), 5, 1)
    state = call(GAME.play(state, first), PASS)
    second = told(state, 2, pass_())
    assert second[-1] == BidWithdrawn(Seat(0), 4, 0)
    state = call(GAME.play(state, second), 0)
    assert (state.phase, state.turn) == ("auction", 1)
    offer = GAME.offers(state, Seat(1))[0]
    assert offer.ranges == {"number": Range(1, 4)}
    assert refused(state, 1, bid(5)).code == "bid_not_lowered"


def test_ft13_example_20_an_outbid_bluff_stands() -> None:
    state = table(display=FIVE, towers={0: FINISHED}, options=TABLE)
    won = call(state, 3, 4, PASS, PASS)
    assert (won.phase, won.turn) == ("build", 1)
    assert shown(won)["calls"]["0"] == 3
    after = act(won, 1, build("sand:7 candy:14 tree:3 scrap:15"))
    assert (after.round, len(standing(after, 1))) == (2, 4)


def test_ft13_example_21_three_ruins_and_no_towers() -> None:
    assert score({}, "sand:1 sand:2 sand:3") == -6


def test_ft13_example_22_a_lone_spire() -> None:
    assert score({"sand": (0,)}) == 3


def test_ft13_example_23_a_spire_inside_a_tower_under_the_cap() -> None:
    after = built("sand:8 sand:7", {"sand": (10, 0)}, "sand:8 sand:7", options=CAP)
    assert standing(after) == {"sand": (10, 0, 8, 7)}
    assert score({"sand": (10, 0, 8, 7)}, options=CAP) == 12


# --- 24 and 25: whole games from a stacked pile, highest values first ---


def stacked_game() -> State:
    falling = [f"{kind}:{value}" for value in range(15, -1, -1) for kind in KINDS]
    assert sorted(falling) == sorted(deck(2))
    return table(display=" ".join(falling[:5]), pile=" ".join(falling[5:]), seats=2)


def take(state: State, number: int) -> State:
    """A round in which seat 0 builds so many cards."""
    state = call(state, number) if state.turn == 0 else call(state, 0, number)
    state = call(state, PASS) if state.phase == "auction" else state
    return act(state, 0, build(*state.display[:number]))


def test_ft13_example_24_one_player_builds_the_whole_deck() -> None:
    state = stacked_game()
    for number in range(1, 17):
        assert (state.round, state.lap, state.phase) == (number, 1, "auction")
        state = take(state, 5)
    assert (state.phase, state.round) == ("over", 16)
    result = GAME.result(state)
    assert result is not None
    assert (result.scores, result.winners) == ((176, 0), (0,))
    assert standing(state) == {kind: tuple(range(15, -1, -1)) for kind in KINDS}
    assert (ruined(state), discarded(state)) == ([], [])


def test_ft13_example_25_37_cards_make_eight_more_rounds() -> None:
    state = stacked_game()
    for number in [5] * 8 + [3]:
        state = take(state, number)
    for _ in range(6):
        state = call(state, 0, PASS)
    assert (state.round, state.lap, state.pile) == (16, 1, ())
    events = told(call(state, 0), state.turn ^ 1, pass_())
    assert PileReshuffled(37) in events
    assert isinstance(events[-1], RoundStarted)
    state = call(state, 0, PASS)
    sizes = []
    while state.phase != "over":
        sizes.append(len(state.display))
        state = call(state, 0, PASS)
    assert sizes == [5, 5, 5, 5, 5, 5, 5, 2]
    assert state.round == 24
