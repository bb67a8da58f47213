"""Series of games between bots: the figures, their errors and their reproducibility."""

from math import sqrt

import pytest

from towerhall_server.cli.main import main
from towerhall_server.cli.simulate import Outcome, play_series, standings
from towerhall_server.game import discover

GAME = discover()["five_towers"]


def outcome(share: float, score: int = 0) -> Outcome:
    return Outcome(share=share, score=score, decisions=2, seconds=0.004, slowest=0.003)


def series(
    bots: tuple[str, ...], games: int, *, seed: int = 1, jobs: int = 1
) -> list[list[Outcome]]:
    options = GAME.presets["standard"]
    return list(play_series(GAME.name, options, bots, games, seed=seed, jobs=jobs))


def results(played: list[list[Outcome]]) -> list[list[tuple[float, int, int]]]:
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
