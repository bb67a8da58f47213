"""FT 10: points, places and shared wins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import bot_game, call, new_game, play_out, shown, standing, table
from tests.games.five_towers.brute_force import Towers, points
from tests.games.five_towers.strategies import Plan, plans
from towerhall_server.game import Result, Seat, rank
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import deck
from towerhall_server.games.five_towers.events import GameEnded
from towerhall_server.games.five_towers.scoring import Score
from towerhall_server.games.five_towers.state import PASS, State


def last_round(towers: dict[int, Towers], ruins: dict[int, int] | None = None) -> State:
    """The last display of a game of four."""
    spare = [card for card in deck(4) if card.endswith(":14")]
    demolished = {
        seat: " ".join(spare.pop() for _ in range(number)) for seat, number in (ruins or {}).items()
    }
    return table(display="sand:15", towers=towers, demolished=demolished, lap=2, pile="")


def ended(state: State) -> State:
    return call(state, 0, PASS, PASS, PASS)


def score_of(towers: Towers, ruins: int = 0) -> Score:
    """The final score of one seat, which must also be the score shown before the end."""
    state = last_round({0: towers}, {0: ruins})
    over = ended(state)
    score = over.scores[0]
    assert shown(state)["seats"]["0"]["score"] == shown(over)["seats"]["0"]["score"] == score.total
    assert score.total == points(towers, ruins)
    return score


def test_ft10_a_tower_without_a_spire_gives_1_per_card_and_1_more_as_main_tower() -> None:
    assert score_of({"sand": (12, 7, 3)}) == Score(3, 0, 3, 0, 6)


def test_ft10_a_tower_with_a_spire_gives_2_per_card_and_1_more_as_main_tower() -> None:
    assert score_of({"sand": (12, 7, 0)}) == Score(3, 3, 3, 0, 9)


def test_ft10_one_tower_only_is_the_main_tower_and_the_tallest_is_best() -> None:
    score = score_of({"sand": (12, 7, 3), "tree": (5, 0), "scrap": (12, 7, 1)})
    assert score == Score(8, 2, 3, 0, 13)


def test_ft10_the_main_tower_need_not_have_a_spire() -> None:
    assert score_of({"sand": (12, 7, 3), "tree": (5, 0)}).main == 3
    assert score_of({"sand": (12, 7), "tree": (5, 4, 0)}).main == 3


def test_ft10_nothing_gives_nothing() -> None:
    assert score_of({}) == Score(0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("ruins", "penalty"), [(0, 0), (1, -1), (2, -3), (3, -6), (4, -10), (5, -15)]
)
def test_ft10_demolished_cards_cost_more_and_more(ruins: int, penalty: int) -> None:
    assert score_of({}, ruins) == Score(0, 0, 0, penalty, penalty)
    assert score_of({"sand": (1,)}, ruins).total == 2 + penalty


def test_ft10_many_demolished_cards() -> None:
    state = table(display="sand:15", demolished={0: " ".join(deck(4)[20:40])}, lap=2, pile="")
    assert ended(state).scores[0].penalty == -210


@given(plans(), st.integers(0, 5))
def test_ft10_the_score_is_what_counting_card_by_card_gives(plan: Plan, ruins: int) -> None:
    free = [card for card in deck(4) if card not in plan.display and card.endswith(":14")]
    demolished = " ".join(free[:ruins])
    towers = {kind: tuple(v for v in tower if v != 14) for kind, tower in plan.towers.items()}
    state = table(display=plan.text, towers={0: towers}, demolished={0: demolished})
    expected = points(towers, len(free[:ruins]))
    assert shown(state)["seats"]["0"]["score"] == expected


@pytest.mark.parametrize("bot", ["random", "greedy"])
@pytest.mark.parametrize("seats", [2, 5])
def test_ft10_played_games_are_scored_the_same_way(bot: str, seats: int) -> None:
    for step in bot_game(bot, seats, 3):
        for seat in range(seats):
            seen = shown(step.after)["seats"][str(seat)]
            ruins = sum(map(len, seen["demolished"].values()))
            assert seen["score"] == points(standing(step.after, seat), ruins)


def test_ft10_the_end_tells_every_score_and_the_winner() -> None:
    state = call(last_round({1: {"tree": (5, 0)}, 2: {"tree": (9,)}}, {3: 1}), 0, PASS, PASS)
    events = GAME.decide(state, Seat(3), {"command": "pass"})
    assert isinstance(events, tuple)
    end = events[-1]
    assert isinstance(end, GameEnded)
    assert [score.total for score in end.scores] == [0, 6, 2, -1]
    assert end.winners == (1,)


def test_ft10_totals_can_be_negative_and_still_win() -> None:
    over = ended(last_round({}, {0: 2, 1: 1, 2: 1, 3: 1}))
    assert GAME.result(over) == Result((-3, -1, -1, -1), (4, 1, 1, 1))


def test_ft10_ties_share_the_win() -> None:
    over = ended(last_round({0: {"sand": (3,)}, 2: {"tree": (7,)}}))
    result = GAME.result(over)
    assert result == Result((2, 0, 2, 0), (1, 3, 1, 3))
    assert result.winners == (0, 2)


def test_ft10_a_shared_place_leaves_the_next_ones_free() -> None:
    assert rank((5, 9, 9, 1, 5)).places == (3, 1, 1, 5, 3)


def test_ft10_cards_in_the_discard_pile_count_for_nobody() -> None:
    over = ended(table(display="sand:15", discard="sand:0 tree:0 tree:1", lap=2, pile=""))
    assert [score.total for score in over.scores] == [0, 0, 0, 0]


def test_ft10_there_is_no_result_before_the_end() -> None:
    for step in bot_game("random", 3, 0):
        assert GAME.result(step.before) is None
        assert "scores" not in shown(step.before)


def test_ft10_the_last_view_takes_the_scores_apart() -> None:
    over = play_out(new_game(3), ("greedy",) * 3)
    for seat, score in enumerate(over.scores):
        seen = shown(over)["scores"][str(seat)]
        assert seen == {
            "cards": score.cards,
            "spires": score.spires,
            "main": score.main,
            "penalty": score.penalty,
            "total": score.total,
        }
        assert score.cards + score.spires + score.main + score.penalty == score.total
