"""Offers: calls as a range, and one build for each different outcome with its score."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings

from tests.builders import (
    bot_game,
    building,
    call,
    new_game,
    play_out,
    ruined,
    shown,
    standing,
    table,
    told,
)
from tests.games.five_towers.brute_force import Outcome, most, outcomes, points
from tests.games.five_towers.strategies import Plan, plans
from towerhall_protocol.offers import Offer, Range
from towerhall_server.game import COPY_MARK, Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.building import builds
from towerhall_server.games.five_towers.cards import KINDS
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

OUTCOMES_MAX = {"base": 198, "cap": 420}
OUTCOMES_IN_PLAY_MAX = 150
FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"
VARIANTS = [Options(), Options(bids="table"), Options(eight="cap", demolish_spire=True)]
TWO_LEFT = {"candy": (0,), "spooky": (0,), "tree": (0,)}


def check_builds(state: State) -> int:
    """Compare the offered builds of a state with brute force; how many there are."""
    seat = state.turn
    (offer,) = GAME.offers(state, seat)
    assert (offer.command, offer.ranges, offer.unsure) == ("build", {}, False)
    number = max(shown(state)["calls"].values())
    expected = outcomes(standing(state, seat), state.display, number, state.options)
    found: Counter[Outcome] = Counter()
    for command, effect in offer.with_effects():
        after = GAME.play(state, told(state, seat, command))
        demolish: Any = command.get("demolish")
        towers = standing(after, seat)
        found[Outcome(tuple(sorted(towers.items())), demolish)] += 1
        score = points(towers, len(ruined(after, seat)))
        assert effect == {"score": score}
        assert shown(after)["seats"][str(seat)]["score"] == score
    assert set(found) == expected
    assert max(found.values()) == 1
    return found.total()


def test_offers_the_start_player_gets_a_range_from_0_and_no_pass() -> None:
    offers = GAME.offers(table(display=FIVE), Seat(0))
    assert offers == (Offer("bid", ranges={"number": Range(0, 5)}),)


def test_offers_the_others_get_what_is_above_the_highest_and_a_pass() -> None:
    offers = GAME.offers(table(display=FIVE, calls=(2,)), Seat(1))
    assert offers == (Offer("bid", ranges={"number": Range(3, 5)}), Offer("pass"))


def test_offers_strict_bids_end_at_what_can_be_built() -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, calls=(0,))
    assert GAME.offers(state, Seat(1))[0].ranges == {"number": Range(1, 2)}


def test_offers_table_bids_end_at_the_display_and_below_what_was_withdrawn() -> None:
    state = table(display=FIVE, towers={1: TWO_LEFT}, options=Options(bids="table"))
    state = call(state, 0)
    assert GAME.offers(state, Seat(1))[0].ranges == {"number": Range(1, 5)}
    state = call(state, 4, PASS, PASS)
    assert GAME.offers(state, Seat(1))[0].ranges == {"number": Range(1, 3)}


def test_offers_go_only_to_the_seat_that_may_act() -> None:
    for step in bot_game("random", 4, 1):
        acting = GAME.to_act(step.before)
        for seat in map(Seat, range(4)):
            assert bool(GAME.offers(step.before, seat)) == (seat in acting)
    over = play_out(new_game(2), ("random", "random"))
    assert [GAME.offers(over, Seat(seat)) for seat in (0, 1)] == [(), ()]


@pytest.mark.parametrize("options", VARIANTS)
def test_offers_calls_are_exactly_the_accepted_ones(options: Options) -> None:
    for step in bot_game("random", 4, 2, options):
        state, seat = step.before, step.seat
        if state.phase != "auction":
            continue
        offered = [command for offer in GAME.offers(state, seat) for command in offer.commands()]
        tried: list[dict[str, object]] = [
            *({"command": "bid", "number": number} for number in range(-1, 7)),
            {"command": "pass"},
        ]
        accepted = [c for c in tried if isinstance(GAME.decide(state, seat, c), tuple)]
        assert offered == accepted


@settings(max_examples=120)
@given(plans())
def test_offers_builds_are_one_for_each_outcome(plan: Plan) -> None:
    for number in range(1, most(*plan) + 1):
        state = building(plan.text, plan.towers, number=number, options=plan.options)
        assert check_builds(state) <= OUTCOMES_MAX[plan.options.eight]


@pytest.mark.parametrize("bot", ["random", "greedy"])
@pytest.mark.parametrize("options", VARIANTS)
def test_offers_builds_in_played_games_are_one_for_each_outcome(bot: str, options: Options) -> None:
    counts = [
        check_builds(step.before)
        for seats in (3, 5)
        for step in bot_game(bot, seats, 6, options)
        if step.before.phase == "build"
    ]
    assert max(counts) > 5


@pytest.mark.parametrize("bot", ["random", "valuer"])
def test_offers_builds_are_never_many(bot: str) -> None:
    counts = [
        GAME.offers(step.before, step.seat)[0].count()
        for seats in (4, 5)
        for seed in range(8 if bot == "random" else 2)
        for step in bot_game(bot, seats, seed)
        if step.before.phase == "build"
    ]
    assert 20 < max(counts) <= OUTCOMES_IN_PLAY_MAX


def test_builds_there_are_none_of_more_cards_than_fit() -> None:
    display = ("sand:7", "sand:3", "tree:12")
    for towers in ({"sand": (0,), "tree": (0,)}, {"sand": (5,), "tree": (0,)}):
        values = tuple(towers.get(kind, ()) for kind in KINDS)
        for options in VARIANTS[:2]:
            assert builds(values, 0, display, 3, options) == []


def test_offers_copies_of_a_card_count_once() -> None:
    assert check_builds(building("sand:7 sand:7+ tree:3", number=1)) == 2
    assert check_builds(building("sand:7 sand:7+ sand:9", number=2)) == 2
    assert check_builds(building("sand:7+ sand:7 sand:9", number=3)) == 1


def test_offers_never_differ_by_copy_marks_alone() -> None:
    for seed in range(4):
        for step in bot_game("random", 5, seed):
            if step.before.phase != "build":
                continue
            (offer,) = GAME.offers(step.before, step.seat)
            plain = Counter(
                (tuple(card.rstrip(COPY_MARK) for card in cards), demolish)
                for cards, demolish in (
                    (command["cards"], command.get("demolish")) for command in commands_of(offer)
                )
            )
            assert max(plain.values()) == 1


def commands_of(offer: Offer) -> list[dict[str, Any]]:
    return list(offer.commands())


@pytest.mark.parametrize(
    ("options", "values", "count"),
    [(Options(), (2, 3, 5, 6, 9), 198), (Options(eight="cap"), (2, 3, 6, 8, 9), 420)],
)
def test_offers_the_most_outcomes_there_can_be(
    options: Options, values: tuple[int, ...], count: int
) -> None:
    display = " ".join(f"sand:{value}" for value in values)
    towers = dict.fromkeys(KINDS, (14, 13))
    state = building(display, towers, number=4, options=options)
    assert check_builds(state) == count == OUTCOMES_MAX[options.eight]
