"""The bots: legal in every variant, as strong as their names, and never knowing too much."""

from collections import Counter
from typing import Any

import pytest

from tests.builders import (
    Command,
    bid,
    bot_game,
    building,
    new_game,
    pass_,
    play_out,
    seed_bytes,
    shown,
    standing,
    table,
    walk,
)
from tests.games.five_towers.brute_force import most, outcomes, parse, points
from tests.games.five_towers.strategies import ALL_OPTIONS
from towerhall_protocol.codec import FROM_SERVER, decode, encode
from towerhall_server.game import LEVELS
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.bots.position import read_view
from towerhall_server.games.five_towers.cards import KINDS
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

POLICIES = ("random", "greedy", "easy", "valuer", "planner")
THINKING = POLICIES[1:]
TABLE = Options(bids="table")
FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"


def choice(bot: str, state: State, entropy: int = 0) -> Command:
    offers = GAME.offers(state, state.turn)
    return GAME.bots[bot](GAME.view(state, state.turn), offers, seed_bytes(entropy))


def line_ups(seats: int) -> list[tuple[str, ...]]:
    """Tables at which every policy sits at least once."""
    tables = range(0, len(POLICIES), seats)
    return [tuple(POLICIES[(at + seat) % 5] for seat in range(seats)) for at in tables]


# --- legal play ---


def test_bots_have_all_levels() -> None:
    assert set(LEVELS) <= set(GAME.bots)
    assert GAME.bots["medium"] is GAME.bots["valuer"]
    assert GAME.bots["hard"] is GAME.bots["planner"]


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize("number", range(len(ALL_OPTIONS)))
def test_bots_play_whole_games_in_every_variant(number: int, seats: int) -> None:
    for seed, bots in enumerate(line_ups(seats), start=number):
        over = play_out(new_game(seats, ALL_OPTIONS[number], seed), bots, seed)
        assert over.phase == "over"


@pytest.mark.parametrize("bot", POLICIES)
def test_bots_play_whole_games_among_themselves(bot: str) -> None:
    assert bot_game(bot, 3, 0)[-1].after.phase == "over"


@pytest.mark.parametrize("bot", THINKING)
def test_bots_never_bid_what_they_cannot_build(bot: str) -> None:
    for options in (TABLE, Options(bids="table", eight="cap", demolish_spire=True)):
        bids = 0
        for step in bot_game(bot, 3, 1, options):
            number: Any = step.command.get("number", 0)
            if number:
                towers = standing(step.before, step.seat)
                assert number <= most(towers, step.before.display, options)
                bids += 1
        assert bids > 10


@pytest.mark.parametrize("bot", THINKING)
def test_bots_answer_a_bluff(bot: str) -> None:
    """A bid that its seat could never build stands in the auction that they have to read."""
    finished = dict.fromkeys(KINDS, (0,))
    for number in range(1, 5):
        for calls in ((number,), (number, PASS), (number, PASS, PASS)):
            state = table(display=FIVE, towers={0: finished}, calls=calls, options=TABLE)
            answer = choice(bot, state)
            assert isinstance(GAME.decide(state, state.turn, answer), tuple)


# --- what they know ---


@pytest.mark.parametrize("seats", [2, 5])
@pytest.mark.parametrize("options", [Options(), TABLE])
def test_bots_know_exactly_which_cards_may_still_come(seats: int, options: Options) -> None:
    laps = set()
    for seed in range(3):
        for step in bot_game("random", seats, seed, options):
            state = step.before
            coming = read_view(shown(state)).coming
            known = [(KINDS[kind], v) for kind, values in enumerate(coming) for v in values]
            undealt = [parse(card) for card in state.pile]
            if state.lap == 1:
                discard = shown(state)["discard"]
                undealt += [(kind, value) for kind in discard for value in discard[kind]]
            assert sorted(known) == sorted(undealt)
            laps.add(state.lap)
    assert laps == {1, 2}


@pytest.mark.parametrize("bot", POLICIES)
def test_bots_choose_the_same_whatever_the_order_of_the_pile(bot: str) -> None:
    for number, step in enumerate(bot_game("greedy", 4, 2)):
        if number % (8 if bot == "planner" else 3) == 0:
            other = GAME.resample(step.before, seed_bytes(number))
            assert choice(bot, other, number) == choice(bot, step.before, number)


@pytest.mark.parametrize("bot", POLICIES)
def test_bots_choose_the_same_from_a_view_that_came_over_the_wire(bot: str) -> None:
    for number, step in enumerate(bot_game("random", 3, 2)):
        if number % 4 == 0:
            offers = GAME.offers(step.before, step.seat)
            view: Any = decode(encode(shown(step.before)), FROM_SERVER)
            received = GAME.bots[bot](view, offers, seed_bytes(number))
            assert received == choice(bot, step.before, number)


@pytest.mark.parametrize("bot", ["greedy", "valuer", "planner"])
def test_bots_without_chance_ignore_the_entropy(bot: str) -> None:
    for step in bot_game("random", 3, 4)[::7]:
        assert choice(bot, step.before, 1) == choice(bot, step.before, 2)


# --- random, greedy and easy ---


def test_bots_random_takes_every_offer_equally_often() -> None:
    state = building("sand:7 sand:7+ tree:3 scrap:15", {"sand": (12, 8)}, number=2)
    offered = [command for offer in GAME.offers(state, state.turn) for command in offer.commands()]
    assert len(offered) == 6
    counts = Counter(encode(choice("random", state, seed)) for seed in range(60 * len(offered)))
    assert set(counts) == set(map(encode, offered))
    assert all(30 <= times <= 100 for times in counts.values())


def test_bots_random_calls_every_number_and_passes() -> None:
    state = table(display=FIVE, calls=(1,))
    chosen = {encode(choice("random", state, seed)) for seed in range(200)}
    assert chosen == set(map(encode, (bid(2), bid(3), bid(4), bid(5), pass_())))


def best_gain(state: State, number: int) -> int:
    """The most points that building so many cards adds, by trying everything."""
    seen = shown(state)["seats"][str(state.turn)]
    towers, ruins = standing(state, state.turn), sum(map(len, seen["demolished"].values()))
    found = outcomes(towers, state.display, number, state.options)
    after = [points(dict(o.towers), ruins + (o.demolish is not None)) for o in found]
    gain: int = max(after) - seen["score"]
    return gain


def test_bots_greedy_takes_the_most_points_now() -> None:
    for step in bot_game("random", 3, 8):
        state, command = step.before, choice("greedy", step.before)
        if state.phase == "build":
            (offer,) = GAME.offers(state, state.turn)
            scores = {encode(found): effect["score"] for found, effect in offer.with_effects()}
            assert scores[encode(command)] == max(scores.values())  # type: ignore[type-var]
            continue
        highest = max(shown(state)["calls"].values(), default=-1)
        possible = most(standing(state, state.turn), state.display, state.options)
        gains = {n: best_gain(state, n) for n in range(max(highest, 0) + 1, possible + 1)}
        number: Any = command.get("number", 0)
        assert gains.get(number, 0) == max(0, *gains.values(), 0)


def test_bots_easy_takes_the_second_best_now_and_then() -> None:
    state = building("tree:3 sand:0 scrap:15", number=1)
    chosen = Counter(str(choice("easy", state, seed)["cards"]) for seed in range(300))
    best = str(choice("greedy", state)["cards"])
    assert best == "['sand:0']"
    assert len(chosen) == 2
    assert 60 <= 300 - chosen[best] <= 140


# --- valuer and planner ---


def last_round(**given: Any) -> State:
    """Two seats at the last display, where values are plain points."""
    return table(seats=2, lap=2, pile="", **given)


def test_bots_valuer_thinks_of_what_may_still_come() -> None:
    state = building("sand:15 sand:1 tree:1 tree:14", number=2)
    cards: Any = choice("valuer", state)["cards"]
    assert sorted(cards) == ["sand:15", "tree:14"]


def test_bots_planner_names_a_number_that_cannot_be_topped() -> None:
    # For seat 0 one card brings 5 points and two bring 4, but seat 1 would answer 1 with 2.
    state = last_round(
        display="sand:0 tree:7 candy:10",
        towers={0: {"sand": (12, 6), "tree": (12, 5), "candy": (4, 3)}, 1: {"candy": (6, 5)}},
    )
    assert choice("valuer", state) == choice("greedy", state) == bid(1)
    assert choice("planner", state) == bid(2)


def test_bots_planner_pays_to_spoil_a_big_gain() -> None:
    # Passing gives seat 0 twelve points for its spire; two cards cost seat 1 two of its own.
    state = last_round(
        display="sand:0 tree:7 candy:10",
        towers={
            0: {"sand": (15, 14, 13, 12, 11, 10, 7, 6, 3)},
            1: {"tree": (12, 5), "candy": (4, 3)},
        },
        demolished={1: "scrap:1 scrap:2 scrap:3"},
        calls=(1,),
    )
    assert choice("valuer", state) == pass_()
    assert choice("planner", state)["command"] == "bid"


@pytest.mark.parametrize(
    ("strong", "weak", "games", "wins"), [("greedy", "random", 8, 8), ("planner", "easy", 6, 5)]
)
def test_bots_are_as_strong_as_their_names(strong: str, weak: str, games: int, wins: int) -> None:
    won = 0
    for seed in range(games):
        bots = (strong, weak) if seed % 2 else (weak, strong)
        result = GAME.result(play_out(new_game(2, seed=seed), bots, seed))
        assert result is not None
        won += result.winners == (bots.index(strong),)
    assert won >= wins


def test_bots_walks_are_repeatable() -> None:
    first, second = (
        [step.command for step in walk(GAME, new_game(4), ("random", "easy") * 2, 5)]
        for _ in range(2)
    )
    assert first == second
