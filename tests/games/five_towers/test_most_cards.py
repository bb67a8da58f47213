"""FT 7: the highest possible number, compared with trying everything."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.builders import bot_game, standing, table
from tests.games.five_towers.brute_force import Towers, most, outcomes
from tests.games.five_towers.strategies import BUILDING_OPTIONS, Plan, plans
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.building import most_cards
from towerhall_server.games.five_towers.cards import KINDS, Card
from towerhall_server.games.five_towers.options import Options


def computed(towers: Towers, display: tuple[Card, ...], options: Options) -> int:
    """The product's answer."""
    return most_cards(tuple(towers.get(kind, ()) for kind in KINDS), display, options)


def plan(towers: Towers, display: str, options: Options) -> Plan:
    return Plan(towers, tuple(display.split()), options)


@settings(max_examples=600)
@given(plans())
@example(plan({"sand": (2,)}, "sand:8 sand:15 sand:3 sand:9 sand:1", Options()))
@example(plan({}, "sand:0 sand:0+ sand:8 sand:9 sand:1", Options(eight="cap")))
@example(plan({"sand": (8, 0)}, "sand:7 sand:7+ sand:9 sand:15", Options(demolish_spire=True)))
def test_ft7_the_highest_possible_number_is_what_trying_everything_finds(plan: Plan) -> None:
    assert computed(*plan) == most(*plan)


@pytest.mark.parametrize("options", BUILDING_OPTIONS)
def test_ft7_all_displays_of_one_kind_with_8_9_and_copies(options: Options) -> None:
    values = ("0", "0+", "7", "7+", "8", "9", "12", "12+")
    for tower in ((), (0,), (1,), (8, 1), (12, 8), (2, 9), (9, 2), (10, 0)):
        for mask in range(1 << len(values)):
            display = tuple(f"sand:{v}" for bit, v in enumerate(values) if mask >> bit & 1)
            if len(display) in (2, 3, 4):
                towers: Towers = {"sand": tower}
                found = computed(towers, display, options)
                assert found == most(towers, display, options), (tower, display)


@settings(max_examples=60)
@given(plans())
def test_ft7_whatever_is_below_a_possible_number_is_possible_too(plan: Plan) -> None:
    possible = [
        number
        for number in range(len(plan.display) + 1)
        if outcomes(plan.towers, plan.display, number, plan.options)
    ]
    assert possible == list(range(computed(*plan) + 1))


@settings(max_examples=60)
@given(plans(), st.data())
def test_ft7_the_order_of_the_display_does_not_matter(plan: Plan, data: st.DataObject) -> None:
    shuffled = tuple(data.draw(st.permutations(plan.display)))
    strict = replace(plan.options, auto_pass=False)
    states = [
        table(display=" ".join(display), towers={0: plan.towers}, options=strict)
        for display in (plan.display, shuffled)
    ]
    first, second = (GAME.offers(state, Seat(0)) for state in states)
    assert first == second


@pytest.mark.parametrize("options", BUILDING_OPTIONS)
@pytest.mark.parametrize(("bot", "seats"), [("random", 4), ("greedy", 5), ("random", 2)])
def test_ft7_the_highest_possible_number_in_played_games(
    bot: str, seats: int, options: Options
) -> None:
    seen = set()
    for step in bot_game(bot, seats, 5, options):
        state = step.before
        if state.phase == "auction" and not state.calls:
            for seat in range(seats):
                towers = standing(state, seat)
                found = computed(towers, state.display, options)
                assert found == most(towers, state.display, options)
                seen.add(found)
    assert len(seen) >= 4
