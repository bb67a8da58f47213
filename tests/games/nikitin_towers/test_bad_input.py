"""Whatever a stranger sends, `decide` answers: legal commands happen, all else is refused."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from time import thread_time
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import Command
from tests.games.nikitin_towers.positions import tower_of
from tests.games.nikitin_towers.tables import (
    GIVE_BACK,
    MANUAL,
    ROLL,
    RUN_OUT,
    THIN_FOOT,
    check_reason,
    choose,
    is_offered,
    moment,
    place,
    restless_game,
)
from towerhall_server.game import Rejected, Seat, read_options
from towerhall_server.games.nikitin_towers import GAME, placing, rules
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE, ORIENTATIONS
from towerhall_server.games.nikitin_towers.notation import spell
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.state import State

FUZZED = 100_000
NEARLY_LEGAL = 0.05
PARAMETER_LENGTH_MAX = 200
REFUSAL_MICROSECONDS_MAX = 300
TABLE = tower_of("110", "111 011 211 101 121")
STATES: dict[str, Callable[[], State]] = {
    "roll": lambda: moment("roll", options=MANUAL),
    "choose": lambda: moment("choose", size=4, towers=(tower_of("000 100 200 010"),)),
    "place": lambda: moment(block="D4", towers=(TABLE,)),
    "cube": lambda: moment(block="A1", towers=(TABLE,), turn=1),
    "thin": lambda: moment(block="D2", towers=(THIN_FOOT,), seats=3),
    "over": lambda: restless_game(2, 9, Options())[-1].after,
}


@cache
def at(name: str) -> State:
    return STATES[name]()


def is_legal(state: State, seat: object, command: Any) -> bool:
    """Whether the offers have the command, or the clock gives it."""
    if type(seat) is not int or (seat,) != GAME.to_act(state):
        return False
    if command == RUN_OUT:
        return state.phase in ("choose", "place")
    plain = {key: value for key, value in command.items() if key != "z"}
    if not is_offered(GAME.offers(state, Seat(seat)), plain):
        return False
    if "z" not in command:
        return True
    answer = GAME.foresee(state, Seat(seat), plain)
    assert isinstance(answer, dict)
    return str(answer["rests"]).endswith(f",{command['z']}")


def check(state: State, seat: Any, command: Any) -> str:
    """The answer is a known refusal with short parameters, or the command was legal."""
    answer = GAME.decide(state, seat, command)
    if isinstance(answer, Rejected):
        check_reason(answer)
        for value in answer.params.values():
            assert isinstance(value, int | str)
            assert len(str(value)) <= PARAMETER_LENGTH_MAX
        return answer.code
    assert is_legal(state, seat, command)
    return "happened"


# --- many commands ---

NUMBERS: tuple[object, ...] = (
    0, 0, 0, 1, 1, 1, 2, 2, 2, -1, -1, -2, -3, 3, 4, 5, 98, 99, -99, 100, -100, 1000, 1 << 31,
    1 << 63, -(1 << 63), 1 << 64, 10**30, 10**500, -(10**500), 0.0, 1.0, -0.0, 0.5, 1e300, math.nan,
    math.inf, True, False, None, "0", "1", b"1", [], [0], {}, (0,), "\ud800",
)  # fmt: skip
SHAPES: tuple[object, ...] = (
    *(spell(kind, at + 1) for kind, found in ORIENTATIONS.items() for at in range(len(found))),
    *(f"D4.{number}" for number in range(15)), *("A1.1", "D2.1", "D2.2", "D2.3") * 8,
    "D4.01", "D4.+1", "D4.1 ", "D4.1\n", "d4.1", "D4.1@0,0", "D4.1@0,0,0", "D4.٣", "D4", "", ".",
    "@", "D4.999999999999", "A0.1", "G1.1", "\ud800", "x" * 5000, 0, 1.5, None, True, [], {},
    ["D4.1"],
)  # fmt: skip
BLOCKS: tuple[object, ...] = (
    *CATALOGUE, "D0", "D7", "d4", "D4.1", "", "D4\0", "\ud800", "x" * 5000, 4, 4.0, None, [], {},
    ["D4"],
)  # fmt: skip
NAMES: tuple[object, ...] = (
    *("roll", "choose", "place", "give_back", "run_out") * 3,
    "Place", "", "build", "bid", None, 1, 1.5, [], {}, "\ud800", "x" * 5000,
)  # fmt: skip
SEATS: tuple[Any, ...] = (
    *(0, 1, 2) * 6, -1, 3, 99, 1 << 40, 10**500, 0.0, 1.0, True, False, None, "0", math.nan,
)  # fmt: skip


def fuzzed(chance: Random) -> dict[Any, Any]:
    """A command that is nearly right, or far from it."""
    pick = chance.choice
    name = pick(("place",) * 6 + ("choose",) * 2 + (pick(NAMES),))
    command: dict[Any, Any] = {"command": name}
    if name == "place":
        command.update(shape=pick(SHAPES), x=pick(NUMBERS), y=pick(NUMBERS))
        if chance.random() < 0.3:
            command["z"] = pick(NUMBERS)
    if name == "choose":
        command["block"] = pick(BLOCKS)
    if chance.random() < 0.1:
        command.pop(pick(list(command)))
    if chance.random() < 0.1:
        command[pick(("x", "y", "z", "block", "shape", "seat", "", 1, None))] = pick(NUMBERS)
    return command


def nearly_legal(chance: Random, block: str) -> Command:
    """A placement of the right block near the tower, at a height that is mostly wrong."""
    shape = spell(block, 1 + chance.randrange(len(ORIENTATIONS[block])))
    x, y, z = (chance.randrange(-2, 5) for _ in range(3))
    return place(shape, x, y, z=z)


def test_bad_input_a_hundred_thousand_commands_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only what is legal is asked whether it stands, so a stranger cannot keep the server busy."""
    statics = Counter[str]()
    for module, name in ((placing, "stands"), (placing, "collapse"), (rules, "find_standing")):
        monkeypatch.setattr(module, name, counting(statics, module, name))
    chance, answers = Random(15), Counter[str]()
    for name in STATES:
        state = at(name)
        before = msgspec.msgpack.encode(state)
        for _ in range(FUZZED // len(STATES) + 1):
            seat, command = chance.choice(SEATS), fuzzed(chance)
            if chance.random() < NEARLY_LEGAL and state.block:
                seat, command = state.turn, nearly_legal(chance, state.block)
            answers[check(state, seat, command)] += 1
        assert msgspec.msgpack.encode(state) == before
    assert answers.total() >= FUZZED
    assert set(answers) >= {
        "bad_command", "wrong_phase", "not_your_turn", "not_in_pile", "wrong_size", "shape",
        "overlap", "covered", "floating", "mat", "place_exists", "happened",
    }  # fmt: skip
    assert answers["happened"] > 100
    assert statics["stands"] + statics["find_standing"] < 0.02 * FUZZED
    assert statics["stands"] <= answers["happened"]


def counting(calls: Counter[str], module: ModuleType, name: str) -> Callable[..., Any]:
    called = getattr(module, name)

    def counted(*given: Any, **named: Any) -> Any:
        calls[name] += 1
        return called(*given, **named)

    return counted


# --- what would take long ---

LONG = "x" * 100_000
HOSTILE: tuple[dict[str, object], ...] = (
    place("D4.1", 10**500, -(10**500)),
    place("D4.1", 0, 0, z=10**500),
    place("D4.1", 99, -99),
    place("D4.1", -99, 99, z=99),
    place("D4.1", -99, 99, z=-99),
    place("D4.1", 0, 0, z=98),
    place(LONG, 0, 0),
    place("D4." + "1" * 100_000, 0, 0),
    place("D4.1@" + "-" * 100_000, 0, 0),
    {**place("D4.1", 0, 0), LONG: LONG},
    {"command": LONG},
    choose(LONG),
    {"command": "place", "shape": "D4.1", "x": [LONG] * 1000, "y": 0},
    {"command": "give_back", "x": [[LONG] * 1000] * 1000},
)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
@pytest.mark.parametrize("name", ["place", "choose"])
def test_bad_input_what_looks_expensive_is_refused_at_once(name: str, number: int) -> None:
    state, command = at(name), HOSTILE[number]
    seat = GAME.to_act(state)[0]
    seconds = []
    for _ in range(20):
        began = thread_time()
        assert isinstance(GAME.decide(state, seat, command), Rejected)
        assert not GAME.slow(state, seat, command)
        GAME.foresee(state, seat, command)
        seconds.append(thread_time() - began)
    assert min(seconds) * 1e6 <= REFUSAL_MICROSECONDS_MAX


# --- odd values ---


def nested(levels: int) -> list[object]:
    inner: list[object] = []
    for _ in range(levels):
        inner = [inner]
    return inner


def nested_map(levels: int) -> dict[str, object]:
    inner: dict[str, object] = {}
    for _ in range(levels):
        inner = {"command": inner, "shape": inner}
    return inner


HUGE = 10**500
ODD_VALUES: list[object] = [
    None, True, False, 0, -1, HUGE, -HUGE, 1 << 63, 1 << 64, 0.0, 1.0, -0.0, math.nan, math.inf,
    1e308, 1j, b"", b"place", bytearray(b"x"), "", "place", "\0", "\n", "1", "½", "\ud800", LONG,
    (), [], {}, set(), frozenset(), range(3), object(), int, len, Ellipsis, ValueError("x"),
    nested(100_000), nested_map(100_000), ["D4.1"], ("D4.1", "D4.2"), [LONG], ["D4.1"] * 100_000,
    {"D4.1"}, {"D4.1": 1},
]  # fmt: skip
FIELDS = ("command", "shape", "x", "y", "z", "block", "seat", LONG, "", "\ud800")
BASE: tuple[Command, ...] = (
    {}, ROLL, choose("D4"), place("D4.12", -1, 1), place("D4.12", 0, 1, z=2), RUN_OUT,
)  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_bad_input_odd_values_in_every_place_are_answered(name: str) -> None:
    state = at(name)
    before = msgspec.msgpack.encode(state)
    for odd in ODD_VALUES:
        check(state, Seat(0), odd)
        check(state, odd, ROLL)
        for seat in GAME.to_act(state) or (Seat(0),):
            check(state, seat, odd)
            for command in BASE:
                for field in FIELDS:
                    check(state, seat, {**command, field: odd})
    assert msgspec.msgpack.encode(state) == before


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("key", [None, 1, True, 2.5, math.nan, b"command", ("a",), HUGE], ids=str)
def test_bad_input_keys_that_are_no_strings_are_answered(name: str, key: object) -> None:
    for command in (*BASE, GIVE_BACK):
        odd: dict[object, object] = dict(command.items())
        odd[key] = 1
        assert check(at(name), (GAME.to_act(at(name)) or (0,))[0], odd) == "bad_command"


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize(
    "seat", [-1, -2, 3, 5, 99, 1 << 40, HUGE, -HUGE, None, "0", "", math.nan, (), True, False, 0.0]
)
def test_bad_input_seats_that_do_not_exist_are_refused(name: str, seat: Any) -> None:
    for command in (*BASE[1:], GIVE_BACK):
        assert check(at(name), seat, command) in ("not_your_turn", "wrong_phase")


@pytest.mark.parametrize("name", STATES)
def test_bad_input_a_waiting_seat_is_refused_whatever_it_sends(name: str) -> None:
    state = at(name)
    for seat in {0, 1, 2} - set(GAME.to_act(state)):
        for command in (*BASE, GIVE_BACK):
            assert check(state, seat, command) != "happened"


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(HUGE)
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=20)
    | st.sampled_from(("place", "choose", "roll", "command", "shape", *CATALOGUE))
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from(FIELDS[:7]), inner, max_size=5)
    ),
    max_leaves=15,
)


@settings(max_examples=200)
@given(st.sampled_from(sorted(STATES)), st.integers(-1, 5), ANYTHING)
def test_bad_input_anything_at_all_is_answered(name: str, seat: int, command: object) -> None:
    check(at(name), Seat(seat), command)


@settings(max_examples=60)
@given(st.integers(0, 1 << 32), st.floats(0, 0.999))
def test_bad_input_is_answered_everywhere_in_a_game(seed: int, part: float) -> None:
    steps = restless_game(3, 22, Options(win="ring"))
    state, chance = steps[int(part * len(steps))].before, Random(seed)
    for _ in range(20):
        check(state, chance.randrange(3), fuzzed(chance))


@settings(max_examples=60)
@given(ANYTHING | st.fixed_dictionaries({}, optional=dict.fromkeys(("win", "lean"), ANYTHING)))
def test_bad_input_as_options_is_answered(wanted: object) -> None:
    answer = read_options(GAME, wanted)
    if isinstance(answer, Rejected):
        assert answer.code == "bad_options"
        assert len(str(answer.params["detail"])) <= PARAMETER_LENGTH_MAX
    else:
        assert isinstance(answer, Options)


def every_command(state: State) -> Iterator[Command]:
    for offer in GAME.offers(state, GAME.to_act(state)[0]):
        yield from offer.commands()


@pytest.mark.parametrize("name", ["roll", "choose", "cube", "thin"])
def test_bad_input_what_is_offered_is_not_refused(name: str) -> None:
    state = at(name)
    for command in every_command(state):
        if command != GIVE_BACK:
            assert check(state, GAME.to_act(state)[0], command) == "happened"
