"""The view and the facts: their exact shape, what is shared between views, and their size."""

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec
import pytest

from tests.builders import Step, seed_bytes
from tests.games.nikitin_towers.positions import tower_of
from tests.games.nikitin_towers.tables import (
    MANUAL,
    SHAKY_POLE,
    TURNS,
    act,
    bot_game,
    choose,
    facts,
    moment,
    new_game,
    place,
    restless_game,
    seed_with,
    shown,
    told,
    whole_story,
)
from towerhall_protocol.codec import encode
from towerhall_protocol.merge_patch import diff
from towerhall_server.game import Seat
from towerhall_server.games.nikitin_towers import GAME
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE
from towerhall_server.games.nikitin_towers.events import BlockPlaced, TowerCollapsed
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.state import State
from towerhall_server.games.nikitin_towers.tower import height, ring_level

VIEW_BYTES_MAX = 1_200
PATCH_BYTES_MAX = 120
RING = Options(win="ring")
SHAPES = ("roll", "choose", "place", "over")

# --- the shape ---


class TowerView(msgspec.Struct, forbid_unknown_fields=True):
    blocks: dict[str, str]
    height: int
    ring: int


class OptionsView(msgspec.Struct, forbid_unknown_fields=True):
    win: Literal["height", "ring"]
    lean: Literal["normal", "calm"]
    auto_roll: bool


class Roll(msgspec.Struct, forbid_unknown_fields=True):
    """What every view has before the end."""

    options: OptionsView
    phase: Literal["roll", "choose", "place"]
    turn: int
    to_act: int
    turns: int
    pile: dict[str, int]
    quiet: int
    towers: dict[str, TowerView]


class Choose(Roll, forbid_unknown_fields=True):
    die: int
    size: int


class Place(Choose, forbid_unknown_fields=True):
    block: str


class Over(msgspec.Struct, forbid_unknown_fields=True):
    options: OptionsView
    phase: Literal["over"]
    turns: int
    pile: dict[str, int]
    quiet: int
    towers: dict[str, TowerView]
    end: Literal["pile", "stall", "turns"]


VIEWS = {"roll": Roll, "choose": Choose, "place": Place, "over": Over}
GAMES: tuple[tuple[int, int, Options], ...] = (
    (2, 21, Options()),
    (3, 22, RING),
    (3, 23, MANUAL),
    (2, 24, MANUAL),
)


def states(steps: tuple[Step, ...]) -> Iterator[State]:
    for step in steps:
        yield step.before
    yield steps[-1].after


@pytest.mark.parametrize(("seats", "seed", "options"), GAMES)
def test_view_has_exactly_the_fields_of_its_phase(seats: int, seed: int, options: Options) -> None:
    phases = set()
    for state in states(restless_game(seats, seed, options)):
        view = shown(state)
        phases.add(view["phase"])
        msgspec.convert(view, type=VIEWS[view["phase"]])
        assert list(view["towers"]) == [str(seat) for seat in range(seats)]
        assert set(view["pile"]) <= set(CATALOGUE)
        assert all(view["pile"].values())
        if view["phase"] != "over":
            neighbour = (view["turn"] + 1) % seats
            assert view["to_act"] == (neighbour if view["phase"] == "choose" else view["turn"])
            assert 0 <= view["turn"] < seats
        if "size" in view:
            assert 1 <= view["size"] <= view["die"] <= 6
        if "block" in view:
            assert CATALOGUE[view["block"]].size == view["size"]
    assert phases == set(VIEWS) - (set() if options == MANUAL else {"roll"})


@pytest.mark.parametrize(("seats", "seed", "options"), GAMES)
def test_view_shows_all_viewers_the_same(seats: int, seed: int, options: Options) -> None:
    for state in list(states(restless_game(seats, seed, options)))[::6]:
        views = [GAME.view(state, viewer) for viewer in (None, *map(Seat, range(seats)))]
        assert all(view == views[0] for view in views)
    assert GAME.shared_view


def test_view_tells_nothing_of_the_seed() -> None:
    for step in restless_game(2, 21, Options())[::5]:
        assert shown(GAME.resample(step.before, b"x" * 32)) == shown(step.before)
        assert step.before.seed not in encode(shown(step.before))


def test_view_of_a_game_at_its_start() -> None:
    state = new_game(3, seed=seed_with(1, 2, 3, 6))
    assert shown(state) == {
        "options": {"win": "height", "lean": "normal", "auto_roll": True},
        "phase": "choose",
        "turn": 2,
        "to_act": 0,
        "turns": 1,
        "die": 6,
        "size": 6,
        "pile": {kind: each.count for kind, each in CATALOGUE.items()},
        "quiet": 0,
        "towers": {str(seat): {"blocks": {}, "height": 0, "ring": 0} for seat in range(3)},
    }
    state = act(state, choose("F4"))
    view = shown(state)
    assert (view["phase"], view["block"], view["to_act"]) == ("place", "F4", 2)
    assert "F4" not in view["pile"]


def test_view_names_blocks_by_the_turn_in_which_they_were_placed() -> None:
    tower = tower_of("110", "111 011 211 101 121")
    state = moment(block="D4", towers=(tower,), turns=57)
    after = GAME.play(state, told(state, 0, place("D4.12", -1, 1))[:1])
    found = shown(after)["towers"]["0"]
    assert found["blocks"] == {"0": "A1.1@1,1,0", "1": "E4.3@0,0,1", "57": "D4.12@-1,1,2"}
    assert (found["height"], found["ring"]) == (3, 0)


def test_view_after_a_collapse_has_only_what_is_left() -> None:
    square = tower_of("000 100 010 110", "001 002 003 004", "005 006 007")
    state = moment(block="C1", towers=(square,))
    after = GAME.play(state, told(state, 0, place("C1.1", 0, 0))[:2])
    assert shown(after)["towers"]["0"] == {
        "blocks": {"0": "D2.3@0,0,0"},
        "height": 1,
        "ring": 0,
    }


@pytest.mark.parametrize(("seats", "seed", "options"), GAMES)
def test_view_heights_and_rings_are_those_of_the_blocks(
    seats: int, seed: int, options: Options
) -> None:
    for state in list(states(restless_game(seats, seed, options)))[::4]:
        for seat, tower in enumerate(state.towers):
            found = shown(state)["towers"][str(seat)]
            assert (found["height"], found["ring"]) == (height(tower), ring_level(tower))
            assert len(found["blocks"]) == len(tower.blocks)


# --- facts ---

Rolls: TypeAlias = tuple[tuple[int, ...], ...]
FACTS: dict[str, Any] = {
    "game_started": tuple[str, int, OptionsView, Rolls, int],
    "die_rolled": tuple[str, int, int, int, int],
    "block_chosen": tuple[str, int, str, Literal["choice", "forced", "lot"]],
    "block_placed": tuple[str, int, str, int, int],
    "tower_collapsed": tuple[str, int, tuple[tuple[str, ...], ...], int, int],
    "block_returned": tuple[str, int, str, Literal["nowhere", "time"]],
    "game_ended": tuple[str, Literal["pile", "stall", "turns"], tuple[int, ...], tuple[int, ...]],
}


def test_facts_have_exactly_their_fields_over_the_wire() -> None:
    names = set()
    for seats, seed, options in GAMES:
        for event in whole_story(restless_game(seats, seed, options))[1]:
            fact: Any = msgspec.msgpack.decode(encode(GAME.facts(event)))
            names.add(fact[0])
            msgspec.convert(fact, type=FACTS[fact[0]])
    assert names == set(FACTS)


def test_facts_of_a_collapse_name_the_blocks_of_each_round_by_their_turns() -> None:
    collapses = 0
    for seats, seed, options in GAMES:
        state, events = whole_story(restless_game(seats, seed, options))
        for event in events:
            if isinstance(event, TowerCollapsed):
                before = shown(state)["towers"][str(event.seat)]["blocks"]
                fallen = [turn for round_ in event.rounds for turn in round_]
                left = shown(GAME.fold(state, event))["towers"][str(event.seat)]
                assert len(set(fallen)) == len(fallen)
                assert set(before) - set(fallen) == set(left["blocks"])
                assert (event.height, event.ring) == (left["height"], left["ring"])
                collapses += 1
            state = GAME.fold(state, event)
    assert collapses > 10


def test_facts_of_a_collapse_in_two_rounds() -> None:
    """Worked example 5 of the rules: a counterweight falls, and what it held."""
    tower = tower_of(
        "100 101 102 202",
        "210 211 212 221 311",
        "003 103 203 213 223",
        "-1,0,4 004 005 105 106",
        "020",
        "224",
        "-1,2,1 011 021 031 121",
        "2,-1,4 204 214",
        "302 312 313 322 402 422",
    )
    events = told(moment(block="B1", towers=(tower,)), 0, place("B1.1", 1, 0))
    assert facts(events)[1] == (
        "tower_collapsed",
        0,
        (("3", str(TURNS)), ("0", "1", "2", "5", "7", "8")),
        2,
        0,
    )


def test_facts_of_the_opening_tell_every_roll() -> None:
    for seed in range(20):
        (fact, *_) = facts(GAME.setup(GAME.start(RING, 3, seed_bytes(seed))))
        rolls: Any = fact[3]
        assert fact[:3] == ("game_started", 3, {"win": "ring", "lean": "normal", "auto_roll": True})
        assert all(len(dice) == 3 for dice in rolls)
        assert rolls[-1].index(max(rolls[-1])) == fact[4]


# --- unchanged parts ---


@pytest.mark.parametrize(("seats", "seed", "options"), GAMES)
def test_view_unchanged_parts_are_the_same_objects(seats: int, seed: int, options: Options) -> None:
    kept = 0
    for step in restless_game(seats, seed, options):
        old, new = shown(step.before), shown(step.after)
        assert old["options"] is new["options"]
        built = {str(event.seat) for event in step.events if isinstance(event, BlockPlaced)}
        assert len(built) <= 1
        for seat in set(old["towers"]) - built:
            assert new["towers"][seat] is old["towers"][seat]
            kept += 1
        if step.before.pile == step.after.pile:
            assert old["pile"] is new["pile"]
    assert kept > 20


# --- size ---


def patches(steps: tuple[Step, ...]) -> Iterator[int]:
    """The bytes of the patch of every placement that stands."""
    for step in steps:
        placed = any(isinstance(event, BlockPlaced) for event in step.events)
        if placed and not any(isinstance(event, TowerCollapsed) for event in step.events):
            yield len(encode(diff(shown(step.before), shown(step.after))))


def test_view_of_three_towers_of_twelve_blocks_is_small() -> None:
    sizes = []
    for bots, preset in ((("careful",) * 3, "standard"), (("ring",) * 3, "ring")):
        for state in states(bot_game(bots, preset)):
            if sum(len(tower.blocks) for tower in state.towers) == 36:
                sizes.append(len(encode(shown(state))))
    assert len(sizes) > 1
    assert max(sizes) <= VIEW_BYTES_MAX


def test_view_of_the_largest_towers_that_there_can_be_is_small() -> None:
    """All 45 blocks, far from the mat, with the longest numbers everywhere."""
    kinds = [kind for kind, each in CATALOGUE.items() for _ in range(each.count)]
    document = {
        **shown(moment(block="D4", turns=119, quiet=29)),
        "towers": {
            str(seat): {
                "blocks": {
                    str(100 + seat + 3 * at): f"{kind}.24@-10,-10,10"
                    for at, kind in enumerate(kinds[seat::3])
                },
                "height": 15,
                "ring": 0,
            }
            for seat in range(3)
        },
    }
    assert len(encode(document)) <= VIEW_BYTES_MAX + 100


def test_view_patches_of_placements_that_stand_are_small() -> None:
    games = [
        bot_game(("careful", "careful")),
        bot_game(("careful",) * 3),
        bot_game(("ring",) * 3, "ring"),
        bot_game(("random", "careful", "mean")),
        restless_game(3, 22, RING),
        restless_game(3, 23, MANUAL),
    ]
    sizes = [size for steps in games for size in patches(steps)]
    assert len(sizes) > 200
    assert max(sizes) <= PATCH_BYTES_MAX


def test_view_the_patch_of_a_placement_says_what_changed_and_no_more() -> None:
    state = moment(block="A1", towers=(tower_of("110", "111 011 211 101 121"), SHAKY_POLE))
    patch = diff(shown(state), shown(act(state, place("A1.1", 1, 1))))
    assert patch["towers"] == {"0": {"blocks": {str(TURNS): "A1.1@1,1,2"}, "height": 3}}
    assert "options" not in patch
