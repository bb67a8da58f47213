"""Whatever a stranger sends, `decide` answers: legal commands happen, all else is refused."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import bid, bot_game, build, building, new_game, play_out, table
from towerhall_server.game import Rejected, Seat, read_options
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import KINDS, deck
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.rejections import REASONS
from towerhall_server.games.five_towers.state import PASS, State

PARAMETER_LENGTH_MAX = 200
FIVE = "sand:7 sand:7+ tree:3 scrap:15 spooky:8"
TABLE = Options(bids="table")
STATES: dict[str, Callable[[], State]] = {
    "start": lambda: table(display=FIVE),
    "auction": lambda: auction(Options()),
    "table": lambda: auction(TABLE),
    "build": lambda: building(FIVE, {"sand": (12, 5), "tree": (9, 0)}, number=2),
    "over": lambda: play_out(new_game(2), ("random", "random")),
}


def auction(options: Options) -> State:
    return table(display=FIVE, calls=(1, PASS), towers={2: {"sand": (0,)}}, options=options)


@cache
def at(name: str) -> State:
    return STATES[name]()


def check(state: State, seat: Any, command: object) -> None:
    """The answer is a known refusal with short parameters, or the command was on offer."""
    before = msgspec.msgpack.encode(state)
    answer = GAME.decide(state, seat, command)
    assert msgspec.msgpack.encode(state) == before
    if isinstance(answer, Rejected):
        assert answer.rule == REASONS[answer.code].rule
        for value in answer.params.values():
            assert isinstance(value, int | str)
            assert len(str(value)) <= PARAMETER_LENGTH_MAX
        return
    assert (seat,) == GAME.to_act(state)
    assert normal(command) in [normal(offered) for offered in on_offer(state)]


def on_offer(state: State) -> Iterator[dict[str, object]]:
    for offer in GAME.offers(state, state.turn):
        yield from offer.commands()


def normal(command: Any) -> object:
    """The same for all spellings of one outcome: kinds in order, copies alike."""
    if command["command"] != "build":
        return command
    cards = sorted((card.rstrip("+") for card in command["cards"]), key=lambda c: c.split(":")[0])
    return cards, command.get("demolish")


def nested(levels: int) -> list[object]:
    inner: list[object] = []
    for _ in range(levels):
        inner = [inner]
    return inner


def nested_map(levels: int) -> dict[str, object]:
    inner: dict[str, object] = {}
    for _ in range(levels):
        inner = {"command": inner, "cards": inner}
    return inner


def short(value: object) -> str:
    return repr(value)[:12]


HUGE = 10**500
LONG = "x" * 1_000_000
ODD_VALUES: list[object] = [
    None, True, False, 0, -1, HUGE, -HUGE, 1 << 63, 1 << 64, 0.0, 1.0, -0.0, math.nan, math.inf,
    1e308, 1j, b"", b"bid", bytearray(b"x"), "", "bid", "\0", "\n", "1", "½", LONG, (), [], {},
    set(), frozenset(), range(3), object(), int, len, Ellipsis, ValueError("x"),
    nested(100_000), nested_map(100_000), ["sand:7"], ("sand:7", "tree:3"), ["sand:7", "sand:7"],
    [LONG], ["tree:3"] * 64, ["tree:3"] * 100_000, [None, "tree:3"], [HUGE], [["tree:3"]],
    {"sand:7"}, {"tree:3": 1},
]  # fmt: skip
FIELDS = ("command", "number", "cards", "demolish", "seat", LONG, "")


@pytest.mark.parametrize("name", STATES)
def test_bad_input_odd_values_in_every_place_are_answered(name: str) -> None:
    state = at(name)
    base: list[dict[str, object]] = [{}, bid(2), {"command": "pass"}, build("scrap:15 spooky:8")]
    for odd in ODD_VALUES:
        check(state, Seat(0), odd)
        check(state, state.turn, odd)
        for command in base:
            for field in FIELDS:
                check(state, state.turn, {**command, field: odd})


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize(
    "key", [None, 1, True, 2.5, math.nan, b"command", ("a",), HUGE, PASS], ids=short
)
def test_bad_input_keys_that_are_no_strings_are_answered(name: str, key: object) -> None:
    base: list[dict[object, object]] = [{}, {"command": "pass"}, {"command": "bid", "number": 2}]
    for command in base:
        check(at(name), at(name).turn, {**command, key: 1})


@pytest.mark.parametrize(
    "command",
    [
        {"command": "\ud800"},
        {"command": "bid", "number": "\ud800"},
        {"command": "bid", "number": 2, "\ud800": 1},
        {"command": "pass", "\udfff": 1},
        {"command": "build", "cards": ["\ud800", "tree:3"]},
        {"command": "build", "cards": ["scrap:15", "spooky:8"], "demolish": "\ud800"},
    ],
)
def test_bad_input_text_that_is_no_unicode_is_answered(command: object) -> None:
    for name in STATES:
        check(at(name), at(name).turn, command)


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize(
    "seat", [-1, -2, 4, 5, 99, 1 << 40, HUGE, -HUGE, None, "0", "", math.nan, ()]
)
def test_bad_input_seats_that_do_not_exist_are_refused(name: str, seat: Any) -> None:
    for command in (bid(2), {"command": "pass"}, build("scrap:15 spooky:8")):
        answer = GAME.decide(at(name), seat, command)
        assert isinstance(answer, Rejected)
        assert answer.code in ("not_your_turn", "wrong_phase")


@pytest.mark.parametrize("seat_type", [bool, float])
def test_bad_input_what_only_equals_the_right_seat_is_refused(seat_type: type) -> None:
    assert GAME.to_act(at("start")) == (0,)
    answer = GAME.decide(at("start"), seat_type(0), bid(0))
    assert isinstance(answer, Rejected)
    assert answer.code == "not_your_turn"


@pytest.mark.parametrize("name", STATES)
def test_bad_input_a_waiting_seat_is_refused_whatever_it_sends(name: str) -> None:
    state = at(name)
    for seat in map(Seat, range(len(state.table.players))):
        if seat in GAME.to_act(state):
            continue
        for offered in ({"command": "pass"}, bid(0), bid(5), build("scrap:15 spooky:8")):
            assert isinstance(GAME.decide(state, seat, offered), Rejected)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(HUGE)
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=20)
    | st.sampled_from(("bid", "pass", "build", "command", "number", *KINDS, *FIVE.split()))
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from(FIELDS[:5]), inner, max_size=5)
    ),
    max_leaves=15,
)
CARDS = st.lists(
    st.sampled_from((*FIVE.split(), *FIVE.split(), *deck(4), "sand:16", "sand", "gold:3")),
    max_size=6,
)
NEARLY = st.one_of(
    st.fixed_dictionaries({"command": st.just("bid"), "number": st.integers(-2, 7) | ANYTHING}),
    st.fixed_dictionaries({"command": st.just("pass")}, optional={"number": ANYTHING}),
    st.fixed_dictionaries(
        {"command": st.just("build"), "cards": CARDS | CARDS.map(tuple) | ANYTHING},
        optional={"demolish": st.none() | st.sampled_from((*KINDS, "gold")) | ANYTHING},
    ),
)


@settings(max_examples=400)
@given(st.sampled_from(sorted(STATES)), st.integers(-1, 5), ANYTHING | NEARLY)
def test_bad_input_anything_at_all_is_answered(name: str, seat: int, command: object) -> None:
    check(at(name), Seat(seat), command)


@settings(max_examples=300)
@given(st.sampled_from(sorted(STATES)), NEARLY)
def test_bad_input_nearly_right_commands_are_answered(name: str, command: object) -> None:
    check(at(name), at(name).turn, command)


@settings(max_examples=100)
@given(st.integers(0, 3), st.floats(0, 0.999), NEARLY)
def test_bad_input_is_answered_everywhere_in_a_game(seed: int, part: float, command: Any) -> None:
    steps = bot_game("random", 3, seed)
    state = steps[int(part * len(steps))].before
    check(state, state.turn, command)


@settings(max_examples=100)
@given(ANYTHING | st.fixed_dictionaries({}, optional=dict.fromkeys(("bids", "preset"), ANYTHING)))
def test_bad_input_as_options_is_answered(wanted: object) -> None:
    answer = read_options(GAME, wanted)
    if isinstance(answer, Rejected):
        assert answer.code == "bad_options"
        assert len(str(answer.params["detail"])) <= PARAMETER_LENGTH_MAX
    else:
        assert isinstance(answer, Options)
