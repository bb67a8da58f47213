"""Bots: they give offered commands only, do what their texts say, and decide in time."""

from collections.abc import Sequence
from functools import cache
from time import thread_time
from typing import Any

import msgspec
import pytest

from tests.builders import Command, opened, seed_bytes, walk
from tests.games.nikitin_towers.positions import pole, tower_of
from tests.games.nikitin_towers.tables import (
    GIVE_BACK,
    MANUAL,
    ROLL,
    THIN_FOOT,
    bot_game,
    choose,
    is_offered,
    moment,
    new_game,
    shown,
)
from towerhall_protocol.codec import FROM_SERVER, decode, encode
from towerhall_server.game import Rejected
from towerhall_server.games.nikitin_towers import GAME
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE
from towerhall_server.games.nikitin_towers.events import (
    BlockPlaced,
    BlockReturned,
    TowerCollapsed,
)
from towerhall_server.games.nikitin_towers.search import places
from towerhall_server.games.nikitin_towers.stability import stands_with
from towerhall_server.games.nikitin_towers.state import State
from towerhall_server.games.nikitin_towers.tower import Tower, height_with, ring_level

SECONDS_MAX = 0.5
"""CPU time of one decision."""
BOTS = sorted(GAME.bots)
SURE_HANDED = ("careful", "mean", "ring", "hard")
"""They never place a block that falls."""
PLATE = tower_of("000 100 200 010 110 210", "020 120", "220")
STAIRS = tower_of("000 100 200 010 110 210", "001 101 201", "020", "002 102", "012 022 011 021")
TOWERS = (Tower(), PLATE, THIN_FOOT, STAIRS, pole(1, 1, 5))


def choice(bot: str, state: State, entropy: int = 0) -> Command:
    seat = GAME.to_act(state)[0]
    return GAME.bots[bot](shown(state), GAME.offers(state, seat), seed_bytes(entropy))


def test_bots_the_levels_are_bots() -> None:
    assert GAME.levels == ("easy", "medium", "hard")
    assert set(BOTS) == {"random", "careful", "mean", "ring", "easy", "medium", "hard"}
    assert GAME.slow_bots


# --- what they give ---


@pytest.mark.parametrize("preset", GAME.presets)
@pytest.mark.parametrize("bot", BOTS)
def test_bots_give_offered_commands_only_and_in_time(bot: str, preset: str) -> None:
    options = msgspec.structs.replace(GAME.presets[preset], auto_roll=False)
    state: State = opened(GAME, options, 2)
    number = 0
    slowest, names = 0.0, set()
    while GAME.to_act(state):
        seat = GAME.to_act(state)[0]
        view, offers = shown(state), GAME.offers(state, seat)
        began = thread_time()
        command = GAME.bots[bot](view, offers, seed_bytes(number))
        slowest, number = max(slowest, thread_time() - began), number + 1
        assert is_offered(offers, command)
        names.add(command["command"])
        events = GAME.decide(state, seat, command)
        assert not isinstance(events, Rejected)
        state = GAME.play(state, events)
    assert {"roll", "choose", "place"} <= names
    assert slowest <= SECONDS_MAX


@pytest.mark.parametrize("bot", BOTS)
def test_bots_choose_the_same_from_a_view_that_came_over_the_wire(bot: str) -> None:
    for number, step in enumerate(bot_game(("random", "careful", "mean"))[::9]):
        offers = GAME.offers(step.before, step.seat)
        view: Any = decode(encode(shown(step.before)), FROM_SERVER)
        received = GAME.bots[bot](view, offers, seed_bytes(number))
        assert received == choice(bot, step.before, number)


@pytest.mark.parametrize("bot", BOTS)
def test_bots_do_not_know_the_dice_to_come(bot: str) -> None:
    for number, step in enumerate(bot_game(("random", "careful", "mean"))[::9]):
        other = GAME.resample(step.before, seed_bytes(number))
        assert choice(bot, other, number) == choice(bot, step.before, number)


@pytest.mark.parametrize("bot", BOTS)
def test_bots_roll_where_players_roll(bot: str) -> None:
    assert choice(bot, new_game(3, MANUAL)) == ROLL


@pytest.mark.parametrize("bot", SURE_HANDED)
def test_bots_ask_for_a_search_only_where_it_finds_nothing(bot: str) -> None:
    assert choice(bot, moment(block="D2", towers=(THIN_FOOT,))) == GIVE_BACK
    assert choice(bot, moment(block="D4", towers=(THIN_FOOT,)))["command"] == "place"


# --- random ---


def test_bots_random_takes_every_sure_offer_and_never_the_search() -> None:
    state = moment(block="A1", towers=(PLATE,))
    offers = GAME.offers(state, state.turn)
    everything = {encode(one) for offer in offers if not offer.unsure for one in offer.commands()}
    assert len(everything) == 9
    assert {encode(choice("random", state, number)) for number in range(150)} == everything
    state = moment("choose", size=3)
    chosen = [choice("random", state, number)["block"] for number in range(60)]
    assert 15 < chosen.count("C1") < 45


# --- careful ---


def standing_heights(state: State, block: str) -> list[int]:
    """Heights after each place of the block at which the builder's tower stands."""
    tower, slope = state.towers[state.turn], state.options.slope
    found = (placed for placed in places(tower, block) if stands_with(tower, placed, slope))
    return [height_with(tower, placed.cubes) for placed in found]


@pytest.mark.parametrize("bot", ["careful", "mean", "hard"])
@pytest.mark.parametrize("block", ["A1", "C1", "D5"])
def test_bots_build_the_highest_tower_that_stands(bot: str, block: str) -> None:
    for tower in TOWERS:
        state = moment(block=block, towers=(tower,))
        after = GAME.decide(state, state.turn, choice(bot, state))
        assert isinstance(after, tuple)
        heights = standing_heights(state, block)
        if not heights:
            assert isinstance(after[0], BlockReturned)
            continue
        assert isinstance(after[0], BlockPlaced)
        assert after[0].height == max(heights)
        assert not isinstance(after[1], TowerCollapsed)


@pytest.mark.parametrize("bots", [("careful", "careful"), ("careful", "mean"), ("careful",) * 3])
def test_bots_careful_and_mean_never_make_a_tower_collapse(bots: tuple[str, ...]) -> None:
    placed = 0
    for step in bot_game(bots):
        placed += any(isinstance(event, BlockPlaced) for event in step.events)
        assert not any(isinstance(event, TowerCollapsed) for event in step.events)
    assert placed >= 40


def test_bots_careful_gives_any_block() -> None:
    state = moment("choose", size=5, towers=(PLATE,))
    given = {str(choice("careful", state, number)["block"]) for number in range(60)}
    assert given == {kind for kind, each in CATALOGUE.items() if each.size == 5}


# --- mean ---


def choices_in_play() -> list[State]:
    steps = bot_game(("careful", "mean"))
    return [step.before for step in steps if step.before.phase == "choose"]


@pytest.mark.parametrize("bot", ["mean", "hard"])
def test_bots_mean_gives_the_block_with_the_lowest_best_top(bot: str) -> None:
    states = [moment("choose", size=size, towers=(STAIRS,)) for size in (3, 4, 5)]
    differ = 0
    for state in [*states, *choices_in_play()[::8]]:
        kinds = [kind for kind in shown(state)["pile"] if CATALOGUE[kind].size == state.size]
        tops = {kind: max(standing_heights(state, kind), default=0) for kind in kinds}
        lowest = min(top for top in tops.values() if top)
        assert tops[str(choice(bot, state)["block"])] == lowest
        differ += max(tops.values()) > lowest
    assert differ > 2


@pytest.mark.parametrize("bot", ["mean", "hard", "ring"])
def test_bots_mean_gives_what_stands_nowhere_only_if_nothing_stands(bot: str) -> None:
    state = moment("choose", size=4, towers=(THIN_FOOT,))
    assert standing_heights(state, "D2") == []
    assert choice(bot, state) != choose("D2")
    only = {"D2": 1, "F1": 1}
    state = moment("choose", size=4, towers=(THIN_FOOT,), pile=only)
    assert choice(bot, state) == choose("D2")


# --- ring ---


@cache
def ring_game(bots: tuple[str, ...], seed: int) -> Sequence[int]:
    """The ring levels at the end."""
    return [ring_level(tower) for tower in bot_game(bots, "ring", seed)[-1].after.towers]


@pytest.mark.parametrize("bot", ["ring", "medium"])
def test_bots_ring_builders_build_rings_where_others_build_poles(bot: str) -> None:
    for seed in range(2):
        ring, other = ring_game((bot, "careful"), seed)
        assert ring >= 4
        assert ring > other


def test_bots_ring_never_makes_a_tower_collapse() -> None:
    for bots in (("ring", "ring"), ("ring",) * 3):
        for step in bot_game(bots, "ring"):
            assert not any(isinstance(event, TowerCollapsed) for event in step.events)


# --- the levels ---


def wins(strong: str, weak: str, preset: str, games: int) -> float:
    """Games won, of games in which the two change seats; a tie is half a win."""
    won = 0.0
    for seed in range(games):
        bots = (strong, weak) if seed % 2 else (weak, strong)
        result = GAME.result(bot_game(bots, preset, seed)[-1].after)
        assert result is not None
        if bots.index(strong) in result.winners:
            won += 1 / len(result.winners)
    return won


def test_bots_hard_beats_easy() -> None:
    assert wins("hard", "easy", "standard", games=3) == 3


def test_bots_easy_is_better_than_random() -> None:
    assert wins("easy", "random", "standard", games=4) >= 3.5


def test_bots_easy_overlooks_now_and_then_that_a_tower_falls() -> None:
    steps = [step for seed in range(4) for step in bot_game(("easy", "random"), "standard", seed)]
    fell = [
        any(isinstance(event, TowerCollapsed) for event in step.events)
        for step in steps
        if step.command["command"] == "place" and step.seat == 0
    ]
    assert 0 < sum(fell) < len(fell) / 2


def test_bots_games_are_repeatable() -> None:
    bots = ("random", "careful", "mean")
    again = [step.command for step in walk(GAME, new_game(3), bots)]
    assert again == [step.command for step in bot_game(bots)]
