"""FT 12: the switches for what the published texts say differently."""

import pytest

from tests.builders import (
    act,
    bid,
    bot_game,
    build,
    building,
    call,
    discarded,
    plain,
    refused,
    ruined,
    shown,
    standing,
    table,
    told,
)
from towerhall_server.game import Rejected, Seat, option_fields, read_options
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.events import AuctionWon, BidWithdrawn
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

CAP = Options(eight="cap")
LITERAL = Options(demolish_spire=True)
FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"


def fits(tower: tuple[int, ...], value: int, options: Options) -> bool:
    copy = "+" if value in tower else ""
    state = building(f"sand:{value}{copy}", {"sand": tower}, options=options)
    answer = GAME.decide(state, Seat(0), build(f"sand:{value}{copy}"))
    assert not isinstance(answer, Rejected) or answer.code == "building_rule"
    return not isinstance(answer, Rejected)


def score(towers: dict[str, tuple[int, ...]], options: Options) -> int:
    state = table(display=FIVE, towers={0: towers}, options=options)
    points: int = shown(state)["seats"]["0"]["score"]
    return points


# --- options and presets ---


def test_ft12_the_official_rules_are_the_default() -> None:
    assert {name: field.default for name, field in option_fields(Options).items()} == {
        "bids": "strict",
        "eight": "base",
        "demolish_spire": False,
        "auto_pass": True,
    }
    assert read_options(GAME, {}) == read_options(GAME, {"preset": "standard"}) == Options()


@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("standard", Options()),
        ("printed", Options(bids="table")),
        ("spanish", Options(bids="table", eight="cap", demolish_spire=True)),
    ],
)
def test_ft12_presets(preset: str, options: Options) -> None:
    assert read_options(GAME, {"preset": preset}) == options
    assert options.demolish_spire is (preset == "spanish")


def test_ft12_single_options_go_on_top_of_a_preset() -> None:
    wanted = {"preset": "spanish", "demolish_spire": False}
    expected = Options(bids="table", eight="cap")
    assert read_options(GAME, wanted) == expected


def test_ft12_spanish_any_top_card_may_be_demolished_also_a_spire() -> None:
    spanish = read_options(GAME, {"preset": "spanish"})
    assert isinstance(spanish, Options)
    state = building("tree:5", {"sand": (10, 0)}, options=spanish)
    after = act(state, 0, build("tree:5", demolish="sand"))
    assert (standing(after)["sand"], ruined(after)) == ((10,), ["sand:0"])


# --- eight: cap (rows 1, 2, 20) ---


@pytest.mark.parametrize("top", [0, 1, 5, 7, 9, 10, 15])
def test_ft12_cap_an_8_goes_on_anything_even_on_a_spire(top: int) -> None:
    assert fits((top,), 8, CAP)


@pytest.mark.parametrize("value", [10, 12, 15])
def test_ft12_cap_an_8_bears_no_higher_card(value: int) -> None:
    assert not fits((8,), value, CAP)
    assert fits((8,), value, Options())


@pytest.mark.parametrize("value", [0, 1, 7, 9])
def test_ft12_cap_an_8_bears_lower_cards_and_the_9(value: int) -> None:
    assert fits((8,), value, CAP)


@pytest.mark.parametrize("top", range(16))
def test_ft12_cap_a_9_goes_on_anything_but_a_spire(top: int) -> None:
    if top != 9:
        assert fits((top,), 9, CAP) is (top != 0)


@pytest.mark.parametrize("value", [value for value in range(16) if value != 8])
def test_ft12_cap_nothing_else_goes_on_a_spire(value: int) -> None:
    assert not fits((14 if value != 14 else 13, 0), value, CAP)


@pytest.mark.parametrize("value", [2, 5, 7, 10, 12])
def test_ft12_cap_equal_values_are_still_refused(value: int) -> None:
    assert not fits((value,), value, CAP)


def test_ft12_cap_after_an_8_on_a_spire_the_tower_is_open_again() -> None:
    state = building("sand:8 sand:7 sand:5 sand:0+", {"sand": (10, 0)}, options=CAP)
    after = act(state, 0, build("sand:8 sand:7 sand:5 sand:0+"))
    assert standing(after)["sand"] == (10, 0, 8, 7, 5, 0)


def test_ft12_cap_a_spire_counts_wherever_it_lies_and_only_once() -> None:
    assert score({"sand": (10, 0, 8, 7)}, CAP) == 4 * 2 + 4
    assert score({"sand": (10, 0, 8, 7, 0)}, CAP) == 5 * 2 + 5


def test_ft12_cap_an_8_on_a_spire_may_be_demolished_but_not_the_spire() -> None:
    state = building("tree:5", {"sand": (10, 0, 8)}, options=CAP)
    after = act(state, 0, build("tree:5", demolish="sand"))
    assert (standing(after)["sand"], ruined(after)) == ((10, 0), ["sand:8"])
    bare = building("tree:5", {"sand": (10, 0)}, options=CAP)
    assert refused(bare, 0, build("tree:5", demolish="sand")).code == "cannot_demolish"


def test_ft12_cap_counts_for_what_can_be_bid() -> None:
    towers = {0: {"sand": (5, 0)}}
    display = "sand:8 sand:7 sand:1"
    assert refused(table(display=display, towers=towers), 0, bid(1)).params == {"most": 0}
    assert told(table(display=display, towers=towers, options=CAP), 0, bid(3))


def test_ft12_cap_games_use_the_cap() -> None:
    towers = [
        tower
        for seed in range(6)
        for tower in (
            t for step in bot_game("random", 4, seed, CAP) for s in range(4)
            for t in standing(step.after, s).values()
        )
    ]  # fmt: skip
    assert any(0 in tower[:-1] for tower in towers)


# --- demolish_spire (row 3) ---


def test_ft12_a_spire_may_be_demolished_if_the_room_wants_it() -> None:
    state = building("sand:5", {"sand": (10, 0)}, options=LITERAL)
    before: int = shown(state)["seats"]["0"]["score"]
    after = act(state, 0, build("sand:5", demolish="sand"))
    assert (standing(after), ruined(after)) == ({"sand": (10, 5)}, ["sand:0"])
    assert (before, shown(after)["seats"]["0"]["score"]) == (6, 2 + 2 - 1)


def test_ft12_a_spire_that_stays_closes_its_tower_even_then() -> None:
    state = building("sand:5", {"sand": (10, 0)}, options=LITERAL)
    assert refused(state, 0, build("sand:5")).code == "building_rule"


def test_ft12_a_demolishable_spire_counts_for_what_can_be_bid() -> None:
    towers = {0: {"sand": (10, 0)}}
    assert told(table(display="sand:5", towers=towers, options=LITERAL), 0, bid(1))
    assert refused(table(display="sand:5", towers=towers), 0, bid(1)).code == "bid_infeasible"


def test_ft12_a_tower_stays_double_while_another_spire_is_in_it() -> None:
    options = Options(eight="cap", demolish_spire=True)
    state = building("tree:5", {"sand": (10, 0, 8, 0)}, options=options)
    after = act(state, 0, build("tree:5", demolish="sand"))
    assert standing(after)["sand"] == (10, 0, 8)
    assert shown(after)["seats"]["0"]["score"] == 3 * 2 + 1 + 3 - 1


# --- rows that have no switch ---


def test_ft12_row_5_0_and_passes_keep_the_start_player_in_every_preset() -> None:
    for options in GAME.presets.values():
        assert isinstance(options, Options)
        state = table(display=FIVE, start_seat=2, options=options)
        assert call(state, 0, PASS, PASS, PASS).start == 2


@pytest.mark.parametrize("options", list(GAME.presets.values()))
def test_ft12_row_6_winning_with_0_demolishes_nothing(options: Options) -> None:
    state = table(display=FIVE, towers={0: {"sand": (12, 6)}}, options=options)
    after = call(state, 0, PASS, PASS, PASS)
    assert (standing(after), ruined(after)) == ({"sand": (12, 6)}, [])
    assert (after.round, discarded(after)) == (2, plain(state.display))


def test_ft12_row_7_a_short_display_is_closed_by_its_own_size() -> None:
    state = table(display="sand:7 tree:3", lap=2, pile="")
    assert told(state, 0, bid(2))[-1] == AuctionWon(Seat(0), 2)


def test_ft12_row_8_a_roll_back_keeps_the_calls_before_it() -> None:
    spanish = GAME.presets["spanish"]
    assert isinstance(spanish, Options)
    state: State = table(
        display=FIVE, towers={2: {"tree": (0,), "sand": (0,)}}, calls=(1, 2), options=spanish
    )
    assert told(state, 2, bid(5))[1] == BidWithdrawn(Seat(2), 5, 2)


def test_ft12_row_18_a_tower_may_start_low() -> None:
    for options in (Options(), CAP):
        assert fits((), 1, options)
