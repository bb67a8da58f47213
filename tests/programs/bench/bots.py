"""How strong the bots are against each other, and how long they think."""

import os

from tests.programs.bench.report import Figure
from towerhall_server.cli.progress import progress
from towerhall_server.cli.simulate import BotTotal, play_series, standings
from towerhall_server.game import discover

GAMES = 400
SEED = 1
PAIRINGS = (
    # preset, bots, bar for the first one's share of wins
    ("standard", ("planner", "greedy"), 0.8),
    ("standard", ("planner", "valuer"), 0.6),
    ("standard", ("valuer", "greedy"), None),
    ("spanish", ("planner", "greedy"), None),
)
DECISION_BAR_MS = 10.0


def measure() -> list[Figure]:
    """Win shares of two-player pairings with standard errors; thinking time of the planner."""
    figures = []
    for preset, bots, at_least in PAIRINGS:
        first = _play(preset, bots)
        figures.append(
            Figure(
                f"{bots[0]} wins against {bots[1]}, {preset}",
                first.share,
                "share",
                at_least=at_least,
                note=f"+- {first.share_error:.3f} over {GAMES} games",
            )
        )
    five = _play("standard", ("planner",) * 5, games=40)
    slowest = f"slowest {five.slowest_ms:.1f} ms, five planners"
    figures.append(
        Figure("planner's decision", five.decision_ms, "ms", at_most=DECISION_BAR_MS, note=slowest)
    )
    return figures


def _play(preset: str, bots: tuple[str, ...], games: int = GAMES) -> BotTotal:
    game = discover()["five_towers"]
    jobs = os.cpu_count() or 1
    series = play_series(game.name, game.presets[preset], bots, games, seed=SEED, jobs=jobs)
    label = f"{','.join(bots)}, {preset}"
    played = [each.outcomes for each in progress(series, games, label)]
    return standings(bots, played)[0]
