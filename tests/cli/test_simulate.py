"""Series of games between bots: the figures, their errors and their reproducibility."""

from math import sqrt
from pathlib import Path

import pytest

from tests.games.folders import more_folders
from tests.games.tile_duel import GAME as TILE_DUEL
from towerhall_server.cli.main import main
from towerhall_server.cli.simulate import BotOutcome, Spread, play_series, spreads, standings
from towerhall_server.game import discover

GAME = discover()["five_towers"]


def outcome(share: float, score: int = 0) -> BotOutcome:
    return BotOutcome(share=share, score=score, decisions=2, seconds=0.004, slowest=0.003)


def series(
    bots: tuple[str, ...], games: int, *, seed: int = 1, jobs: int = 1
) -> list[list[BotOutcome]]:
    options = GAME.presets["standard"]
    played = play_series(GAME.name, options, bots, games, seed=seed, jobs=jobs)
    return [each.outcomes for each in played]


def results(played: list[list[BotOutcome]]) -> list[list[tuple[float, int, int]]]:
    return sorted([(o.share, o.score, o.decisions) for o in game] for game in played)


def test_a_standing_has_share_error_score_and_times() -> None:
    outcomes = [[outcome(1.0, 40), outcome(0.0, 30)], [outcome(0.5, 20), outcome(0.5, 20)]]
    first, second = standings(("a", "b"), outcomes)
    assert (first.share, first.mean_score) == (0.75, 30.0)
    assert first.share_error == pytest.approx(sqrt(2 * 0.25**2 / 1 / 2))
    assert (second.share, second.mean_score) == (0.25, 25.0)
    assert first.decision_ms == pytest.approx(2.0)
    assert first.slowest_ms == pytest.approx(3.0)


def test_each_game_has_one_win_to_share() -> None:
    for game in series(("greedy", "random", "greedy"), 6):
        assert sum(o.share for o in game) == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_games_in_one_process_or_two() -> None:
    alone = results(series(("greedy", "easy"), 6))
    assert alone == results(series(("greedy", "easy"), 6, jobs=2))
    assert alone != results(series(("greedy", "easy"), 6, seed=2))


def test_seats_rotate_so_that_the_stronger_bot_wins_wherever_it_is_listed() -> None:
    for bots, strong in ((("greedy", "random"), 0), (("random", "greedy"), 1)):
        table = standings(bots, series(bots, 20))
        assert table[strong].share > 0.9


def test_the_table_goes_to_the_screen_and_the_progress_to_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = "simulate five_towers --bots greedy,random --games 4 --jobs 1 --preset printed"
    assert main(arguments.split()) == 0
    shown = capsys.readouterr()
    title, head, first, second = shown.out.splitlines()
    assert title.startswith("five_towers, 4 games, seed 1, bids=table")
    assert head.split() == ["bot", "wins", "+-", "score", "decision", "slowest"]
    assert (first.split()[0], second.split()[0]) == ("greedy", "random")
    assert "4/4" in shown.err


COUNTING = """
from dataclasses import replace
from tests.games.dice_duel import GAME

def figures(state, events):
    lucky = {"sixes": sum(event.die == 6 for event in events)}
    return {"turns": len(events), "best": max(state.scores)} | (lucky if lucky["sixes"] else {})

GAME = replace(GAME, name="counting", figures=figures)
"""


def test_the_figures_of_a_game_have_a_table_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with more_folders(tmp_path) as add:
        add("counting", COUNTING)
        words = ["simulate", "counting", "--bots", "easy,easy", "--games", "40", "--jobs", "1"]
        assert main(words) == 0
    *_, figure_head, turns, best, sixes = capsys.readouterr().out.splitlines()
    assert figure_head.split() == ["figure", "mean", "p95", "range"]
    assert turns.split() == ["turns", "6.0", "6", "6", "to", "6"]
    assert best.split()[0] == "best"
    assert sixes.split()[0] == "sixes"
    assert sixes.split()[3] == "1", "a game without sixes has no such figure"


def test_a_figure_has_mean_percentile_and_range() -> None:
    rows = spreads([{"height": height} for height in range(1, 101)] + [{"falls": 7}])
    assert rows == [Spread("height", 50.5, 95, 1, 100), Spread("falls", 7.0, 7, 7, 7)]
    assert spreads([{}, {}]) == []


def test_a_figure_is_counted_from_the_whole_game(tmp_path: Path) -> None:
    """The events of the set-up are among them, before those of the first command."""
    with more_folders(tmp_path) as add:
        add("counting", COUNTING_ROLLS)
        options = TILE_DUEL.presets["standard"]
        (played,) = play_series("counting", options, ("easy", "easy"), 1, seed=1, jobs=1)
    assert played.figures == {"first": 1, "ended": 1}


COUNTING_ROLLS = """
from dataclasses import replace
from tests.games import tile_duel as duel

def figures(state, events):
    whole = duel.start(state.options, 2, state.seed)
    first = events[: len(duel.setup(whole))] == duel.setup(whole)
    return {"first": int(first), "ended": sum(isinstance(e, duel.Ended) for e in events)}

GAME = replace(duel.GAME, name="counting", figures=figures)
"""
