"""NT 9: what the host may choose, and that each choice changes the game."""

from typing import Any

import pytest

from tests.games.nikitin_towers.positions import pole
from tests.games.nikitin_towers.tables import act, facts, moment, new_game, place, shown, told
from towerhall_server.game import OptionField, Rejected, Seat, option_fields, read_options
from towerhall_server.games.nikitin_towers import GAME
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.tower import Tower

POLES = {"normal": 9, "calm": 18}
"""Levels up to which a pole of cubes stands. The centre may be 0.5 - 6/139 off the middle of the
foot, and it is half as high as the pole: 2 * 0.4568 * slope."""


def test_nt9_the_options_their_values_and_defaults() -> None:
    assert option_fields(Options) == {
        "win": OptionField(("height", "ring"), "height"),
        "lean": OptionField(("normal", "calm"), "normal"),
        "auto_roll": OptionField((False, True), True),
    }


def test_nt9_the_presets() -> None:
    assert dict(GAME.presets) == {
        "standard": Options("height", "normal", auto_roll=True),
        "ring": Options("ring", "normal", auto_roll=True),
    }


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, Options()),
        ({"preset": "ring"}, Options(win="ring")),
        ({"preset": "ring", "win": "height"}, Options()),
        ({"lean": "calm", "auto_roll": False}, Options(lean="calm", auto_roll=False)),
    ],
)
def test_nt9_options_are_read(wanted: object, found: Options) -> None:
    assert read_options(GAME, wanted) == found


@pytest.mark.parametrize(
    "wanted",
    [
        {"win": "Height"}, {"win": ""}, {"win": None}, {"win": 1}, {"lean": "none"}, {"lean": 10},
        {"lean": 0.1}, {"auto_roll": 1}, {"auto_roll": "true"}, {"auto_roll": None},
        {"preset": "calm"}, {"preset": 1}, {"bids": "table"}, {"slope": 10}, {"": ""}, [], None,
        "standard",
    ],
)  # fmt: skip
def test_nt9_other_options_are_refused(wanted: object) -> None:
    answer = read_options(GAME, wanted)
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.rule) == ("bad_options", "9")
    assert answer.params["detail"]


@pytest.mark.parametrize("options", [Options(), Options("ring", "calm", auto_roll=False)])
def test_nt9_the_options_are_public(options: Options) -> None:
    wanted: dict[str, Any] = {
        "win": options.win,
        "lean": options.lean,
        "auto_roll": options.auto_roll,
    }
    assert shown(new_game(2, options))["options"] == wanted
    (fact, *_) = facts(GAME.setup(GAME.start(options, 2, bytes(32))))
    assert fact[:3] == ("game_started", 2, wanted)


def falls(levels: int, options: Options) -> bool:
    """Whether a pole falls when a cube makes it so many levels high."""
    state = moment(block="A1", towers=(pole(0, 2, levels - 1),), options=options)
    return facts(told(state, 0, place("A1.1", 0, 2)))[1][0] == "tower_collapsed"


def test_nt9_a_calm_table_holds_higher_poles() -> None:
    assert (Options().slope, Options(lean="calm").slope) == (10, 20)
    for lean, levels in POLES.items():
        options = Options(lean=lean)  # type: ignore[arg-type]
        assert [falls(number, options) for number in (levels, levels + 1)] == [False, True]


def test_nt9_each_way_to_win_compares_something_else() -> None:
    rim = [(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]
    low = Tower(tuple(pole(x, y, 1).blocks[0] for x, y in rim))
    for win, places in (("height", (2, 1)), ("ring", (1, 2))):
        options = Options(win=win)  # type: ignore[arg-type]
        state = moment(block="A1", towers=(low, pole(0, 0, 4)), turns=120, options=options)
        result = GAME.result(act(state, {"command": "run_out"}))
        assert result is not None
        assert result.places == places


def test_nt9_auto_roll_decides_who_rolls() -> None:
    for auto_roll, phase in ((True, "choose"), (False, "roll")):
        state = new_game(2, Options(auto_roll=auto_roll))
        assert state.phase == phase
        assert {offer.command for offer in GAME.offers(state, Seat(GAME.to_act(state)[0]))} == {
            phase
        }
