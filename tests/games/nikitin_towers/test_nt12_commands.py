"""NT 12: commands, the reasons why they are refused, their order, and dry runs."""

from typing import Any, NamedTuple

import pytest

from tests.builders import Command
from tests.games.nikitin_towers.positions import pole, tower_of
from tests.games.nikitin_towers.tables import (
    GIVE_BACK,
    MANUAL,
    ROLL,
    RUN_OUT,
    SHAKY_POLE,
    THIN_FOOT,
    bot_game,
    check_reason,
    choose,
    facts,
    moment,
    place,
    refused,
    restless_game,
    told,
)
from towerhall_server.game import DETAIL_LENGTH, Rejected, Seat, read_options
from towerhall_server.games.nikitin_towers import GAME, placing, rules
from towerhall_server.games.nikitin_towers.events import BlockPlaced, TowerCollapsed
from towerhall_server.games.nikitin_towers.notation import spell_resting
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.rejections import REASONS
from towerhall_server.games.nikitin_towers.state import State

TABLE = tower_of("110", "111 011 211 101 121")
"""A cube in the middle, and a plus on it: four cells of the mat are under its arms."""
ROLLING = moment("roll", options=MANUAL)
CHOOSING = moment("choose", size=4, towers=(tower_of("000 100 200 010"),))
PLACING = moment(block="D4", towers=(TABLE,))
CUBE = moment(block="A1", towers=(TABLE,))
OVER = moment("over", turn=-1)
PHASES = {"roll": ROLLING, "choose": CHOOSING, "place": PLACING, "over": OVER}


class Refusal(NamedTuple):
    """A command that is refused, why, and with which parameters."""

    code: str
    state: State
    seat: int
    command: object
    params: dict[str, Any]


REFUSALS = (
    Refusal("wrong_phase", PLACING, 0, ROLL, {"phase": "place"}),
    Refusal("wrong_phase", CHOOSING, 0, GIVE_BACK, {"phase": "choose"}),
    Refusal("wrong_phase", ROLLING, 0, choose("D4"), {"phase": "roll"}),
    Refusal("wrong_phase", OVER, 0, place("D4.1", 0, 0), {"phase": "over"}),
    Refusal("not_your_turn", PLACING, 1, place("D4.1", 0, 0), {"turn": 0}),
    Refusal("not_your_turn", PLACING, 1, GIVE_BACK, {"turn": 0}),
    Refusal("not_your_turn", CHOOSING, 0, choose("D4"), {"turn": 1}),
    Refusal("not_your_turn", ROLLING, 1, ROLL, {"turn": 0}),
    Refusal("wrong_size", CHOOSING, 1, choose("E1"), {"block": "E1", "size": 4}),
    Refusal("not_in_pile", CHOOSING, 1, choose("D3"), {"block": "D3"}),
    Refusal("shape", PLACING, 0, place("D5.1", 0, 0), {"block": "D4"}),
    Refusal("shape", PLACING, 0, place("D4.13", 0, 0), {"block": "D4"}),
    Refusal("shape", PLACING, 0, place("D4", 0, 0), {"block": "D4"}),
    Refusal("shape", PLACING, 0, place("D4.1@0,0", 0, 0), {"block": "D4"}),
    Refusal("overlap", CUBE, 0, place("A1.1", 1, 1, z=0), {}),
    Refusal("overlap", CUBE, 0, place("A1.1", 0, 0, z=-1), {}),
    Refusal("covered", CUBE, 0, place("A1.1", 0, 1, z=0), {}),
    Refusal("floating", CUBE, 0, place("A1.1", 0, 0, z=1), {}),
    Refusal("floating", CUBE, 0, place("A1.1", 0, 0, z=99), {}),
    Refusal("mat", CUBE, 0, place("A1.1", 3, 0), {}),
    Refusal("mat", CUBE, 0, place("A1.1", -99, 99, z=0), {}),
    Refusal("place_exists", PLACING, 0, GIVE_BACK, {}),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: each.code)
def test_nt12_a_refusal_has_its_code_and_parameters(refusal: Refusal) -> None:
    answer = refused(refusal.state, refusal.seat, refusal.command)
    assert (answer.code, answer.params) == (refusal.code, refusal.params)


def test_nt12_every_code_can_happen(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {refused(one.state, one.seat, one.command).code for one in REFUSALS}
    found.add(refused(PLACING, 0, {"command": "dance"}).code)
    options = read_options(GAME, {"lean": "steep"})
    assert isinstance(options, Rejected)
    check_reason(options)
    found.add(options.code)
    monkeypatch.setattr(rules, "MOST_CHECKS", 1)
    found.add(refused(moment(block="D2", towers=(THIN_FOOT,)), 0, GIVE_BACK).code)
    assert found == set(REASONS)


# --- what is no command at all ---


@pytest.mark.parametrize("name", PHASES)
@pytest.mark.parametrize(
    "command",
    [
        None, 1, "roll", [], ["roll"], {}, {"command": None}, {"command": 1}, {"command": ["roll"]},
        {"command": ""}, {"command": "Roll"}, {"command": "build"}, {"name": "roll"},
        {"command": "roll", "x": 1}, {"command": "choose"}, {"command": "choose", "kind": "D4"},
        {"command": "choose", "block": None}, {"command": "choose", "block": ["D4"]},
        {"command": "choose", "block": "D4", "seat": 1}, {"command": "give_back", "block": "D4"},
        {"command": "run_out", "why": "time"}, {"command": "place"},
        {"command": "place", "shape": "D4.1", "x": 0}, {"command": "place", "x": 0, "y": 0},
        {"command": "place", "shape": "D4.1", "y": 0},
        {"command": "place", "shape": 4, "x": 0, "y": 0},
        {"command": "place", "shape": "D4.1", "x": 0, "y": 0, "z": None},
        {"command": "place", "shape": "D4.1", "x": 0.0, "y": 0},
        {"command": "place", "shape": "D4.1", "x": 0, "y": 0.5},
        {"command": "place", "shape": "D4.1", "x": True, "y": 0},
        {"command": "place", "shape": "D4.1", "x": "0", "y": 0},
        {"command": "place", "shape": "D4.1", "x": 0, "y": 0, "z": 0.0},
        {"command": "place", "shape": "D4.1", "x": 0, "y": 0, "block": "D4"},
        {"command": "place", "cubes": [[0, 0, 0]]},
    ],
)  # fmt: skip
def test_nt12_other_keys_and_types_are_no_command(name: str, command: object) -> None:
    for seat in (0, 1):
        answer = refused(PHASES[name], seat, command)
        assert (answer.code, answer.rule) == ("bad_command", "12")
        assert 0 < len(str(answer.params["detail"])) <= DETAIL_LENGTH


@pytest.mark.parametrize("block", ["", "d4", "D7", "G1", "D4.1", "D", "x" * 10_000, "D4\n"])
def test_nt12_a_kind_that_does_not_exist_is_no_command(block: str) -> None:
    answer = refused(CHOOSING, 1, choose(block))
    assert answer.code == "bad_command"
    assert answer.params == {"detail": "block must be one of D1, D2, D4, D5, D6"}


@pytest.mark.parametrize("number", [-100, 100, 10**6, 1 << 63, -(1 << 64), 10**500])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_nt12_numbers_without_a_notation_are_no_command(axis: str, number: int) -> None:
    answer = refused(PLACING, 0, {**place("D4.1", 0, 0), axis: number})
    assert answer.code == "bad_command"


@pytest.mark.parametrize("number", [-99, 99])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_nt12_numbers_with_a_notation_are_asked_of_the_rules(axis: str, number: int) -> None:
    answer = refused(PLACING, 0, {**place("D4.1", 0, 0), axis: number})
    assert answer.code in ("mat", "overlap", "floating")


# --- the order of checks ---


@pytest.mark.parametrize(
    ("seat", "command", "code"),
    [
        (1, {"command": "dance"}, "bad_command"),
        (1, {"command": "roll", "x": 1}, "bad_command"),
        (1, ROLL, "wrong_phase"),
        (1, choose("nothing"), "wrong_phase"),
        (1, place("E1.1", 400, 400), "not_your_turn"),
        (0, place("E1.1", 400, 400), "shape"),
        (0, place("D4.1", 400, 0, z=400), "bad_command"),
        (0, place("D4.1", 0, 0, z=400), "bad_command"),
    ],
)
def test_nt12_form_phase_seat_shape_and_numbers_are_checked_in_this_order(
    seat: int, command: Command, code: str
) -> None:
    assert refused(PLACING, seat, command).code == code


@pytest.mark.parametrize(
    ("column", "z", "code"),
    [
        # Inside the tower and below the table: nothing else is asked.
        ((1, 1), 0, "overlap"),
        ((5, 5), -1, "overlap"),
        # Free, below the arm of the plus and on the mat.
        ((0, 1), 0, "covered"),
        # Free, nothing above and nothing below.
        ((5, 5), 1, "floating"),
        # On the table beside the mat.
        ((5, 5), 0, "mat"),
        ((-1, 0), 0, "mat"),
    ],
)
def test_nt3_the_first_rule_that_is_broken_is_the_reason(
    column: tuple[int, int], z: int, code: str
) -> None:
    assert refused(CUBE, 0, place("A1.1", *column, z=z)).code == code


def test_nt3_what_is_covered_and_floats_is_covered() -> None:
    state = moment(block="A1", towers=(tower_of("110", "111", "112 012"),))
    assert refused(state, 0, place("A1.1", 0, 1, z=1)).code == "covered"
    assert refused(state, 0, place("A1.1", -1, 1, z=1)).code == "floating"


def test_nt3_one_cube_that_overlaps_is_enough_though_others_are_covered() -> None:
    state = moment(block="B1", towers=(TABLE,))
    assert refused(state, 0, place("B1.3", 0, 1, z=0)).code == "overlap"
    assert refused(state, 0, place("B1.2", 0, 0, z=0)).code == "covered"


def test_nt12_a_size_that_is_wrong_is_told_before_a_kind_that_is_gone() -> None:
    empty = moment("choose", size=4, pile={"D4": 1})
    assert refused(empty, 1, choose("E1")).code == "wrong_size"
    assert refused(empty, 1, choose("D1")).code == "not_in_pile"


# --- the client's own z ---


@pytest.mark.parametrize("steps", [("careful", "careful"), ("random", "random", "random")])
def test_nt12_with_the_right_z_a_placement_is_the_same(steps: tuple[str, ...]) -> None:
    count = 0
    for step in bot_game(steps)[::3]:
        for event in step.events:
            if isinstance(event, BlockPlaced):
                z = int(event.at.rpartition(",")[2])
                assert told(step.before, step.seat, {**step.command, "z": z}) == step.events
                count += 1
    assert count > 8


@pytest.mark.parametrize("steps", [("careful", "careful"), ("random", "random", "random")])
def test_nt12_with_any_other_z_a_placement_is_refused(steps: tuple[str, ...]) -> None:
    codes = set()
    for step in bot_game(steps)[::5]:
        for event in step.events:
            if isinstance(event, BlockPlaced):
                right = int(event.at.rpartition(",")[2])
                for z in {*range(-2, right + 4), 50, 99} - {right}:
                    code = refused(step.before, step.seat, {**step.command, "z": z}).code
                    assert code in (("floating",) if z > right else ("overlap", "covered"))
                    codes.add(code)
    assert {"overlap", "floating"} <= codes


# --- dry runs ---


def foreseen(state: State, command: Command, seat: int = 0) -> Any:
    return GAME.foresee(state, Seat(seat), command)


def test_nt12_a_dry_run_tells_where_the_block_rests() -> None:
    assert foreseen(CUBE, place("A1.1", 1, 1)) == {"rests": "A1.1@1,1,2", "height": 3, "ring": 0}
    assert foreseen(CUBE, place("A1.1", 2, 2, z=0)) == {
        "rests": "A1.1@2,2,0",
        "height": 2,
        "ring": 0,
    }
    rim = tower_of("000 100 200 010 020", "210 220 120")
    state = moment(block="A1", towers=(rim,))
    assert foreseen(state, place("A1.1", 1, 1)) == {"rests": "A1.1@1,1,0", "height": 1, "ring": 1}


def test_nt12_a_dry_run_never_tells_whether_the_tower_stands() -> None:
    standing = moment(block="A1", towers=(pole(0, 2, 8),))
    falling = moment(block="A1", towers=(SHAKY_POLE,))
    command = place("A1.1", 0, 2)
    assert not isinstance(told(standing, 0, command)[1], TowerCollapsed)
    assert isinstance(told(falling, 0, command)[1], TowerCollapsed)
    assert foreseen(standing, command) == {"rests": "A1.1@0,2,8", "height": 9, "ring": 0}
    assert foreseen(falling, command) == {"rests": "A1.1@0,2,9", "height": 10, "ring": 0}


@pytest.mark.parametrize("options", [Options(), Options("ring", "calm", auto_roll=False)])
def test_nt12_a_dry_run_agrees_with_the_placement(options: Options) -> None:
    fell = stood = 0
    for step in restless_game(3, 11, options):
        if step.command["command"] != "place":
            continue
        answer = foreseen(step.before, step.command, step.seat)
        (placed, *more) = step.events
        assert isinstance(placed, BlockPlaced)
        assert answer == {"rests": placed.at, "height": placed.height, "ring": placed.ring}
        fallen = bool(more) and isinstance(more[0], TowerCollapsed)
        if not fallen:
            last = step.after.towers[step.seat].blocks[-1]
            assert spell_resting(last) == answer["rests"]
        fell, stood = fell + fallen, stood + (not fallen)
    assert fell > 3 < stood


def test_nt12_a_dry_run_asks_no_statics(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> bool:
        raise AssertionError("a dry run asked whether the tower stands")

    for module, name in (
        (placing, "stands"),
        (placing, "collapse"),
        (rules, "stands"),
        (rules, "find_standing"),
    ):
        monkeypatch.setattr(module, name, never)
    for z in ({}, {"z": 9}, {"z": 3}):
        foreseen(moment(block="A1", towers=(SHAKY_POLE,)), place("A1.1", 0, 2, **z))


def test_nt12_a_dry_run_is_refused_as_the_command_is() -> None:
    for refusal in REFUSALS:
        if isinstance(refusal.command, dict) and refusal.command["command"] == "place":
            answer = GAME.foresee(refusal.state, Seat(refusal.seat), refusal.command)
            assert answer == refused(refusal.state, refusal.seat, refusal.command)


@pytest.mark.parametrize("command", [ROLL, choose("D4"), GIVE_BACK, RUN_OUT, {}, None, 7, "place"])
def test_nt12_dry_runs_of_other_commands_are_left_to_the_room(command: Any) -> None:
    for state in PHASES.values():
        assert foreseen(state, command, 0) is None


# --- slow commands ---


def test_nt12_only_searches_and_collapses_are_slow() -> None:
    falling = moment(block="A1", towers=(SHAKY_POLE,))
    assert GAME.slow(falling, Seat(0), place("A1.1", 0, 2))
    assert not GAME.slow(falling, Seat(0), place("A1.1", 0, 0))
    assert GAME.slow(falling, Seat(0), GIVE_BACK)
    assert not GAME.slow(falling, Seat(1), GIVE_BACK)
    assert not GAME.slow(falling, Seat(1), place("A1.1", 0, 2))
    for refusal in REFUSALS:
        if refusal.command != GIVE_BACK:
            assert not GAME.slow(refusal.state, Seat(refusal.seat), refusal.command)


def test_nt12_facts_spell_where_a_block_rests() -> None:
    state = moment(block="B1", towers=(TABLE,))
    for command, at in (
        (place("B1.1", 1, 1), "B1.1@1,1,2"),
        (place("B1.2", -1, 1), None),
        (place("B1.3", -1, 1), "B1.3@-1,1,2"),
        (place("B1.3", 2, 1), "B1.3@2,1,2"),
    ):
        if at is None:
            assert refused(state, 0, command).code == "mat"
        else:
            assert facts(told(state, 0, command))[0][2] == at
