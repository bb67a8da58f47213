"""FT 6: what may be built and demolished."""

import pytest

from tests.builders import (
    act,
    bot_game,
    build,
    building,
    discarded,
    plain,
    refused,
    ruined,
    standing,
    table,
    told,
)
from tests.games.five_towers.brute_force import is_legal
from towerhall_server.game import Seat
from towerhall_server.games.five_towers.events import (
    CardBuilt,
    CardDemolished,
    CardsTaken,
    DisplayCleared,
    RoundStarted,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS

EVERY_TOP = range(16)


def fits(tower: tuple[int, ...], value: int) -> bool:
    """Whether one card of the value may be built on a tower of the same kind."""
    copy = "+" if value in tower else ""
    state = building(f"sand:{value}{copy}", {"sand": tower})
    command = build(f"sand:{value}{copy}")
    if (tower[-1] if tower else None) in allowed_below(value):
        assert standing(act(state, 0, command)) == {"sand": (*tower, value)}
        return True
    answer = refused(state, 0, command)
    assert (answer.code, answer.params) == ("building_rule", {"index": 0, "top": tower[-1]})
    return False


def allowed_below(value: int) -> set[int | None]:
    """The tops on which a value may lie, spelled out."""
    if value == 9:
        return {None, *range(1, 16)}
    return {None, 8, *range(value + 1, 16)}


@pytest.mark.parametrize("top", EVERY_TOP)
def test_ft6_a_card_goes_on_higher_tops_a_9_on_all_but_0_and_all_on_an_8(top: int) -> None:
    twice = (0, 2, 5, 7, 10, 12)
    values = [value for value in range(16) if value != top or value in twice]
    fitting = [value for value in values if fits((top,), value)]
    assert fitting == [value for value in values if top in allowed_below(value)]


@pytest.mark.parametrize("value", range(16))
def test_ft6_any_value_may_start_a_tower(value: int) -> None:
    assert fits((), value)


@pytest.mark.parametrize("value", [0, 2, 5, 7, 10, 12])
def test_ft6_an_equal_value_is_not_lower(value: int) -> None:
    assert not fits((value,), value)


@pytest.mark.parametrize("value", [0, 1, 7, 9, 10, 12, 15])
def test_ft6_anything_may_lie_on_an_8(value: int) -> None:
    assert fits((12, 8), value)


@pytest.mark.parametrize(("top", "allowed"), [(7, False), (0, False), (9, True), (15, True)])
def test_ft6_an_8_itself_has_no_privilege(top: int, allowed: bool) -> None:
    assert fits((top,), 8) is allowed


@pytest.mark.parametrize("value", [10, 12, 15])
def test_ft6_what_follows_a_9_is_lower_than_9(value: int) -> None:
    assert not fits((5, 9), value)


@pytest.mark.parametrize("value", [*range(8), 8])
def test_ft6_a_9_begins_a_new_falling_run(value: int) -> None:
    assert fits((5, 9) if value != 5 else (4, 9), value)


@pytest.mark.parametrize("value", range(16))
def test_ft6_nothing_may_lie_on_a_spire(value: int) -> None:
    assert not fits((15, 0), value) if value != 15 else not fits((14, 0), value)


@pytest.mark.parametrize(
    "run",
    [
        (12, 8, 15, 14),
        (10, 8, 10, 7),
        (7, 9, 7),
        (15, 9, 8),
        (8, 9),
        (15, 1, 0),
        (2, 9, 8, 15, 3),
        (8, 0),
    ],
)
def test_ft6_legal_towers(run: tuple[int, ...]) -> None:
    for height, value in enumerate(run):
        assert fits(run[:height], value)


def test_ft6_the_new_run_after_an_8_begins_only_once() -> None:
    assert not fits((12, 8, 14), 15)
    assert not fits((12, 8, 10), 10)


def test_ft6_each_kind_has_one_tower_of_its_own() -> None:
    state = building("sand:7 tree:7 sand:3", {"tree": (9,)})
    after = act(state, 0, build("sand:7", "tree:7", "sand:3"))
    assert standing(after) == {"sand": (7, 3), "tree": (9, 7)}


def test_ft6_building_changes_nothing_before_the_others() -> None:
    state = table(
        display="sand:7 tree:7",
        towers={1: {"sand": (12,)}, 2: {"tree": (8,)}},
        calls=(1, PASS, PASS, PASS),
        phase="build",
    )
    after = act(state, 0, build("sand:7"))
    assert [standing(after, seat) for seat in range(4)] == [
        {"sand": (7,)},
        {"sand": (12,)},
        {"tree": (8,)},
        {},
    ]


@pytest.mark.parametrize("cards", ["", "sand:7", "sand:7 tree:3 candy:1"])
def test_ft6a_exactly_as_many_cards_as_bid_are_built(cards: str) -> None:
    state = building("sand:7 tree:3 candy:1", number=2)
    answer = refused(state, 0, build(cards))
    assert (answer.code, answer.params) == ("wrong_number_of_cards", {"number": 2})


def test_ft6a_the_cards_are_chosen_freely_and_the_rest_is_discarded() -> None:
    state = building("sand:7 tree:3 candy:1 scrap:0 spooky:9", number=2)
    after = act(state, 0, build("spooky:9", "tree:3"))
    assert standing(after) == {"tree": (3,), "spooky": (9,)}
    assert discarded(after) == ["candy:1", "sand:7", "scrap:0"]


def test_ft6b_one_top_may_be_demolished_before_building() -> None:
    after = act(building("sand:7", {"sand": (12, 6)}), 0, build("sand:7", demolish="sand"))
    assert standing(after) == {"sand": (12, 7)}
    assert ruined(after) == ["sand:6"]
    assert discarded(after) == []


def test_ft6b_only_the_top_is_demolished() -> None:
    state = building("sand:7", {"sand": (12, 6, 4)})
    answer = refused(state, 0, build("sand:7", demolish="sand"))
    assert (answer.code, answer.params) == ("building_rule", {"index": 0, "top": 6})


def test_ft6b_a_demolition_need_not_be_needed() -> None:
    state = building("sand:5", {"sand": (12, 6), "tree": (3,)})
    assert standing(act(state, 0, build("sand:5", demolish="sand"))) == {
        "sand": (12, 5),
        "tree": (3,),
    }
    assert standing(act(state, 0, build("sand:5", demolish="tree"))) == {"sand": (12, 6, 5)}


def test_ft6b_a_spire_is_never_demolished() -> None:
    state = building("tree:5", {"sand": (12, 0)})
    assert refused(state, 0, build("tree:5", demolish="sand")).code == "cannot_demolish"


@pytest.mark.parametrize("kind", ["sand", "candy", "", "towers", "Sand"])
def test_ft6b_there_must_be_a_tower_to_demolish(kind: str) -> None:
    state = table(
        display="tree:5", towers={1: {"sand": (12,)}}, calls=(1, PASS, PASS, PASS), phase="build"
    )
    assert refused(state, 0, build("tree:5", demolish=kind)).code == "cannot_demolish"


def test_ft6b_a_card_built_in_this_round_cannot_be_demolished_in_it() -> None:
    state = building("sand:5 sand:4")
    answer = refused(state, 0, build("sand:5", "sand:4", demolish="sand"))
    assert answer.code == "cannot_demolish"


def test_ft6b_the_only_card_of_a_tower_leaves_a_free_place() -> None:
    after = act(building("sand:8", {"sand": (2,)}), 0, build("sand:8", demolish="sand"))
    assert standing(after) == {"sand": (8,)}


def test_ft6b_demolishing_above_an_8_opens_the_8_again() -> None:
    after = act(building("sand:15", {"sand": (8, 1)}), 0, build("sand:15", demolish="sand"))
    assert standing(after) == {"sand": (8, 15)}


def test_ft6b_ruins_pile_up_and_stay() -> None:
    state = building("sand:7", {"sand": (12, 6)}, demolished="tree:1 candy:3")
    events = told(state, 0, build("sand:7", demolish="sand"))
    assert CardDemolished(Seat(0), "sand:6", 3) in events
    after = act(state, 0, build("sand:7", demolish="sand"))
    assert ruined(after) == ["candy:3", "sand:6", "tree:1"]
    assert "sand:6" not in plain(after.pile)


def test_ft6c_the_order_of_building_is_the_order_of_the_list() -> None:
    state = building("sand:7 sand:12 tree:1")
    assert standing(act(state, 0, build("sand:12", "tree:1", "sand:7")))["sand"] == (12, 7)
    answer = refused(state, 0, build("sand:7", "tree:1", "sand:12"))
    assert (answer.code, answer.params) == ("building_rule", {"index": 2, "top": 7})


def test_ft6_a_build_is_told_step_by_step() -> None:
    state = building("sand:7 tree:1 candy:3", {"sand": (12, 6)}, number=2)
    events = told(state, 0, build("tree:1", "sand:7", demolish="sand"))
    assert events[:-1] == (
        CardsTaken(Seat(0), ("tree:1", "sand:7")),
        CardDemolished(Seat(0), "sand:6", 1),
        CardBuilt(Seat(0), "tree:1", 1),
        CardBuilt(Seat(0), "sand:7", 2),
        DisplayCleared(("candy:3",)),
    )
    assert isinstance(events[-1], RoundStarted)


def test_ft6_towers_hold_no_string_of_a_command() -> None:
    state = building("sand:7")
    (taken, built, *_) = told(state, 0, build("sand:7 "))
    assert isinstance(taken, CardsTaken)
    assert isinstance(built, CardBuilt)
    assert taken.cards[0] is built.card is state.display[0]


@pytest.mark.parametrize("options", [Options(), Options(eight="cap", demolish_spire=True)])
@pytest.mark.parametrize("seed", range(6))
def test_ft6_towers_of_played_games_are_always_legal(options: Options, seed: int) -> None:
    for step in bot_game("random", 4, seed, options):
        for seat in range(4):
            for tower in standing(step.after, seat).values():
                assert is_legal(tower, options)
                if options.eight == "base":
                    assert 0 not in tower[:-1]
