"""Finding games, reading the options that a stranger asks for, and ranking scores."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.games.attempts import nested
from tests.games.dice_duel import GAME as DICE_DUEL
from tests.games.folders import PACKAGE, AddFolder, more_folders
from tests.games.tile_duel import GAME, Options
from towerhall_protocol.codec import encode
from towerhall_server.cli.main import main
from towerhall_server.discovery import BadFolderError
from towerhall_server.game import (
    BAD_OPTIONS,
    DETAIL_LENGTH,
    AnyGame,
    OptionField,
    Rejected,
    UnknownRulesError,
    discover,
    option_fields,
    rank,
    read_options,
    rules_of,
)

GAMES = {**discover(), GAME.name: GAME, DICE_DUEL.name: DICE_DUEL}
MODULE = """
from dataclasses import replace
from tests.games.tile_duel import GAME
GAME = replace(GAME, name={name!r})
"""


@pytest.fixture
def add_folder(tmp_path: Path) -> Iterator[AddFolder]:
    with more_folders(tmp_path) as add:
        yield add


def test_discovery_finds_five_towers_and_whatever_has_a_folder() -> None:
    (home,) = import_module(PACKAGE).__path__
    folders = {path.parent.name for path in Path(home).glob("*/__init__.py")}
    games = discover()
    assert "five_towers" in games
    assert games.keys() == folders
    assert all(name == game.name for name, game in games.items())


def test_a_new_folder_is_a_new_game(add_folder: AddFolder) -> None:
    known = set(discover())
    add_folder("new_game", MODULE.format(name="new_game"))
    assert discover().keys() == known | {"new_game"}
    assert discover()["new_game"].name == "new_game"


def test_a_game_that_calls_itself_otherwise_than_its_folder_is_refused(
    add_folder: AddFolder,
) -> None:
    add_folder("new_game", MODULE.format(name="old_game"))
    with pytest.raises(BadFolderError, match="the game in new_game is named old_game"):
        discover()


FIELDS = """
from dataclasses import replace
from tests.games.dice_duel import GAME, Options
GAME = replace(GAME, name="new_game", {fields})
"""


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("", "new_game: its __init__.py has no GAME"),
        ("GAME = 'dice'", "new_game: GAME must be a Game, not 'dice'"),
        (
            "from towerhall_server.game import Game\nGAME = Game(name='new_game')",
            "new_game: Game() missing 19 required keyword-only arguments: 'version', 'seats', ",
        ),
        (
            "from towerhall_server.game import Game\nGAME = Game(luck=1)",
            "new_game: Game() got an unexpected keyword argument 'luck'",
        ),
    ],
)
def test_a_folder_without_a_game_is_refused_and_named(
    code: str, complaint: str, add_folder: AddFolder
) -> None:
    add_folder("new_game", code)
    with pytest.raises(BadFolderError) as caught:
        discover()
    assert str(caught.value).startswith(complaint)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ("decide='no'", "the field decide must be a function, not 'no'"),
        ("view=None", "the field view must be a function, not None"),
        ("advance=3", "the field advance must be a function or None, not 3"),
        ("seats=(2, 3)", "the field seats must be a range, not (2, 3)"),
        ("version='1'", "the field version must be an int, not '1'"),
        ("options_type=Options()", "the field options_type must be a class, not Options(rounds=3)"),
        ("presets=[]", "the field presets must be a mapping, not []"),
        ("presets={'standard': 3}", "the entry 'standard' of the field presets must be a Struct"),
        ("reasons={'bad': 'x'}", "the entry 'bad' of the field reasons must be a Reason, not 'x'"),
        ("bots={'easy': 'x'}", "the entry 'easy' of the field bots must be a function, not 'x'"),
        ("bots={'best': print}", "the field bots needs one of easy, medium, hard"),
        ("clock_commands='run'", "the field clock_commands must be a frozenset, not 'run'"),
        ("previous='v1'", "the field previous must be a Game or None, not 'v1'"),
        ("upcasters={'old': 1}", "the entry 'old' of the field upcasters must be a function"),
        (
            "version=2, previous=replace(GAME, name='new_game', fold=7)",
            "the field fold must be a function, not 7",
        ),
    ],
)
def test_a_field_of_a_wrong_type_is_refused_and_named(
    fields: str, complaint: str, add_folder: AddFolder
) -> None:
    add_folder("new_game", FIELDS.format(fields=fields))
    with pytest.raises(BadFolderError) as caught:
        discover()
    assert str(caught.value).startswith(f"new_game: {complaint}")


def test_an_error_in_the_code_of_a_game_is_told_as_it_is(add_folder: AddFolder) -> None:
    add_folder("new_game", "GAME = len(3)")
    with pytest.raises(TypeError, match="has no len"):
        discover()


@pytest.mark.parametrize("command", ["games", "bots --game new_game", "simulate x --bots easy"])
def test_the_command_line_tells_a_bad_folder_in_one_sentence(
    command: str, add_folder: AddFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    add_folder("new_game", FIELDS.format(fields="fold=7"))
    assert main(command.split()) == 2
    shown = capsys.readouterr()
    name = command.split()[0]
    assert shown.err == f"towerhall {name}: new_game: the field fold must be a function, not 7\n"


TWO_VERSIONS = """
from dataclasses import replace
from tests.games.tile_duel import GAME
V1 = replace(GAME, name="new_game", version={old})
GAME = replace(V1, name={name!r}, version={new}, previous=V1)
"""


def test_a_folder_may_hold_several_versions_and_the_newest_is_the_game(
    add_folder: AddFolder,
) -> None:
    add_folder("new_game", TWO_VERSIONS.format(old=3, new=7, name="new_game"))
    games = discover()
    game = games["new_game"]
    assert [rules.version for rules in game.versions] == [7, 3]
    assert rules_of(games, "new_game", 7) is game
    assert rules_of(games, "new_game", 3) is game.previous
    for name, version in (("new_game", 4), ("no_game", 7), ("five_towers", 7)):
        with pytest.raises(UnknownRulesError, match=f"{name}, rules {version}, is not"):
            rules_of(games, name, version)


@pytest.mark.parametrize(("old", "new"), [(2, 2), (3, 2)])
def test_versions_that_are_not_newest_first_are_refused(
    old: int, new: int, add_folder: AddFolder
) -> None:
    add_folder("new_game", TWO_VERSIONS.format(old=old, new=new, name="new_game"))
    with pytest.raises(BadFolderError, match=f"newest first: .{new}, {old}"):
        discover()


def test_all_versions_of_a_game_have_its_name(add_folder: AddFolder) -> None:
    add_folder("named", TWO_VERSIONS.format(old=1, new=2, name="named"))
    with pytest.raises(BadFolderError, match="the game in named is named new_game"):
        discover()


every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


@every_game
def test_a_preset_gives_its_options(game: AnyGame) -> None:
    for name, options in game.presets.items():
        assert read_options(game, {"preset": name}) == options
    assert read_options(game, {}) == game.presets["standard"] == game.options_type()


@every_game
def test_single_options_go_on_top_of_the_preset(game: AnyGame) -> None:
    for name, preset in game.presets.items():
        for option, field in option_fields(game.options_type).items():
            for value in field.values:
                wanted = read_options(game, {"preset": name, option: value})
                assert wanted == msgspec.structs.replace(preset, **{option: value})


def test_options_are_described_with_values_and_defaults() -> None:
    assert option_fields(Options) == {
        "goal": OptionField(("highest", "lowest"), "highest"),
        "short": OptionField((False, True), False),
    }


def test_an_option_must_be_one_of_few_values() -> None:
    free = msgspec.defstruct("Free", [("points", int, 5)])
    with pytest.raises(TypeError, match="Literal or a bool"):
        option_fields(free)


def check_refused(game: AnyGame, wanted: object) -> None:
    answer = read_options(game, wanted)
    assert isinstance(answer, Rejected), answer
    assert answer.code == BAD_OPTIONS
    assert answer.rule == game.reasons[BAD_OPTIONS].rule
    assert len(str(answer.params["detail"])) <= DETAIL_LENGTH
    assert game.reasons[BAD_OPTIONS].hint.format(**answer.params)
    encode(msgspec.to_builtins(answer))


BAD: list[object] = [
    None,
    [],
    "standard",
    7,
    [("preset", "standard")],
    {"preset": "no_such_preset"},
    {"preset": None},
    {"preset": ["standard"]},
    {"preset": {}},
    {"preset": 1},
    {"goal": "sideways"},
    {"goal": None},
    {"goal": 1},
    {"goal": ["highest"]},
    {"short": 1},
    {"short": "true"},
    {"short": None},
    {"short": 2**70},
    {"short": nested(3000)},
    {"unknown": True},
    {"x" * 10_000: True},
    {1: 2},
    {None: 1},
    {b"short": True},
    {"\ud800": 1},
    {"goal": "\ud800"},
    {"preset": "\ud800"},
    {"preset": "quick", "goal": "lowest", "short": False, "more": 1},
]


@pytest.mark.parametrize("wanted", BAD, ids=range(len(BAD)))
def test_bad_options_are_refused_and_nothing_is_raised(wanted: object) -> None:
    check_refused(GAME, wanted)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.binary(max_size=5)
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["preset", "standard", "goal", "bids", "highest", "strict"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["preset", "goal", "short", "bids", "auto_pass", "eight"])
            | st.integers()
            | st.text(st.characters(), max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@every_game
@given(anything)
@example({"preset": "standard"})
def test_anything_at_all_gives_options_or_a_refusal(game: AnyGame, wanted: object) -> None:
    answer = read_options(game, wanted)
    if isinstance(answer, game.options_type):
        assert isinstance(wanted, dict)
        assert wanted.keys() <= {"preset", *option_fields(game.options_type)}
    else:
        check_refused(game, wanted)


@pytest.mark.parametrize(
    ("scores", "places", "winners"),
    [
        ((3, 1, 2), (1, 3, 2), (0,)),
        ((5, 5, 1), (1, 1, 3), (0, 1)),
        ((1, 5, 5, 9), (4, 2, 2, 1), (3,)),
        ((0, 0, 0), (1, 1, 1), (0, 1, 2)),
        ((-6, -6, -1), (2, 2, 1), (2,)),
        ((4,), (1,), (0,)),
    ],
)
def test_equal_scores_share_a_place_and_leave_the_next_free(
    scores: tuple[int, ...], places: tuple[int, ...], winners: tuple[int, ...]
) -> None:
    result = rank(scores)
    assert result.scores == scores
    assert result.places == places
    assert result.winners == winners


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6).map(tuple))
def test_ranks_follow_the_scores(scores: tuple[int, ...]) -> None:
    places = rank(scores).places
    for score, place in zip(scores, places, strict=True):
        assert place == 1 + sum(other > score for other in scores)
    assert rank(scores).winners == tuple(i for i, s in enumerate(scores) if s == max(scores))
