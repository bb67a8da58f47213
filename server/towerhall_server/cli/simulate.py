"""`towerhall simulate`: many games between bots, and a table of how they fared."""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import ceil, sqrt
from multiprocessing import get_context
from signal import SIG_IGN, SIGINT, signal

import msgspec

from towerhall_server.cli.arena import BotMove, final_result, match_seed, play
from towerhall_server.cli.arguments import (
    Subparsers,
    add_match_arguments,
    find_game,
    find_match,
    spell,
)
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.progress import progress
from towerhall_server.game import AnyGame

EXAMPLES = """\
examples:
  towerhall simulate five_towers --bots planner,greedy,greedy --games 200 --seed 1
  towerhall simulate five_towers --bots valuer,greedy --preset spanish --option auto_pass=false

Seats rotate from game to game. A shared win counts in equal parts. The column after the share is
its standard error. A game may have figures of its own: a second table shows for each of them the
mean, the 95th percentile, the least and the most of all games.
"""
MOST_JOBS = 64
PERCENTILE = 0.95


class BotOutcome(msgspec.Struct, frozen=True):
    """One bot in one game."""

    share: float
    """Share of the win: 1 alone, 1/2 with one other, 0 for a loss."""
    score: int
    decisions: int
    seconds: float
    slowest: float


class Played(msgspec.Struct, frozen=True):
    """One game: an outcome for each bot as listed, and the game's own figures."""

    outcomes: list[BotOutcome]
    figures: Mapping[str, int]


class Spread(msgspec.Struct, frozen=True):
    """One figure over all games that have it."""

    name: str
    mean: float
    high: int
    """The 95th percentile: 95 % of the games do not exceed it."""
    least: int
    most: int


class BotTotal(msgspec.Struct, frozen=True):
    """One bot over all games."""

    bot: str
    share: float
    share_error: float
    mean_score: float
    decision_ms: float
    slowest_ms: float


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "simulate",
        help="play many games between bots and print a table",
        description="Plays whole games between bots, without a server, and compares the bots.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_match_arguments(parser)
    parser.add_argument("--games", type=int, default=100, help="how many (default: 100)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    match = find_match(arguments)
    game, bots, options = match.game, match.bots, match.options
    if arguments.games < 1:
        raise UsageError("--games must be at least 1")
    if not 1 <= arguments.jobs <= MOST_JOBS:
        raise UsageError(f"--jobs must be 1 to {MOST_JOBS}")
    games = play_series(
        game.name, options, bots, arguments.games, seed=arguments.seed, jobs=arguments.jobs
    )
    played = list(progress(games, arguments.games, game.name))
    print(f"{game.name}, {arguments.games} games, seed {arguments.seed}, {_spelled(options)}")
    for line in table(standings(bots, [each.outcomes for each in played])):
        print(line)
    for line in figure_table(spreads([each.figures for each in played])):
        print(line)
    return 0


def play_series(
    game: str, options: msgspec.Struct, bots: Sequence[str], games: int, *, seed: int, jobs: int
) -> Iterator[Played]:
    """Yield the games in any order, but always the same games."""
    play_one = partial(play_match, game, options, tuple(bots), seed)
    if jobs == 1:
        yield from map(play_one, range(games))
        return
    with get_context("spawn").Pool(min(jobs, games), _leave_interrupts_to_the_parent) as pool:
        yield from pool.imap_unordered(play_one, range(games))


def _leave_interrupts_to_the_parent() -> None:
    signal(SIGINT, SIG_IGN)


def play_match(
    name: str, options: msgspec.Struct, bots: tuple[str, ...], seed: int, number: int
) -> Played:
    """Play one game of a series. Bots move on by one seat in each game."""
    game = find_game(name)
    seats = len(bots)
    seated = [bots[(seat - number) % seats] for seat in range(seats)]
    seed_of_match = match_seed(seed, number)
    steps = list(play(game, options, seated, seed_of_match))
    result = final_result(game, steps)
    times: list[list[float]] = [[] for _ in bots]
    for step in steps:
        times[step.seat].append(step.seconds)
    outcomes = []
    for bot in range(seats):
        seat = (bot + number) % seats
        share = 1 / len(result.winners) if seat in result.winners else 0.0
        spent = times[seat]
        outcomes.append(
            BotOutcome(share, result.scores[seat], len(spent), sum(spent), max(spent, default=0.0))
        )
    return Played(outcomes, _figures(game, options, seats, seed_of_match, steps))


def _figures(
    game: AnyGame, options: msgspec.Struct, seats: int, seed: bytes, steps: Sequence[BotMove]
) -> Mapping[str, int]:
    """Count the game's figures, from its last state and from all events since the start."""
    if game.figures is None:
        return {}
    setup = game.setup(game.start(options, seats, seed))
    return game.figures(steps[-1].after, (*setup, *(e for step in steps for e in step.events)))


def standings(bots: Sequence[str], outcomes: Sequence[list[BotOutcome]]) -> list[BotTotal]:
    games = len(outcomes)
    rows = []
    for bot, played in zip(bots, zip(*outcomes, strict=True), strict=True):
        share = sum(outcome.share for outcome in played) / games
        variance = sum((outcome.share - share) ** 2 for outcome in played) / max(games - 1, 1)
        decisions = max(sum(outcome.decisions for outcome in played), 1)
        rows.append(
            BotTotal(
                bot=bot,
                share=share,
                share_error=sqrt(variance / games),
                mean_score=sum(outcome.score for outcome in played) / games,
                decision_ms=1000 * sum(outcome.seconds for outcome in played) / decisions,
                slowest_ms=1000 * max(outcome.slowest for outcome in played),
            )
        )
    return rows


def table(rows: Sequence[BotTotal]) -> Iterator[str]:
    yield f"{'bot':<12} {'wins':>7} {'+-':>6} {'score':>7} {'decision':>11} {'slowest':>11}"
    for row in rows:
        yield (
            f"{row.bot:<12} {row.share:>7.1%} {row.share_error:>6.1%} {row.mean_score:>7.1f}"
            f" {row.decision_ms:>8.2f} ms {row.slowest_ms:>8.2f} ms"
        )


def spreads(played: Sequence[Mapping[str, int]]) -> list[Spread]:
    """Return each figure that any game has, in order of its first game."""
    names = dict.fromkeys(name for figures in played for name in figures)
    rows = []
    for name in names:
        values = sorted(figures[name] for figures in played if name in figures)
        high = values[ceil(PERCENTILE * len(values)) - 1]
        rows.append(Spread(name, sum(values) / len(values), high, values[0], values[-1]))
    return rows


def figure_table(rows: Sequence[Spread]) -> Iterator[str]:
    if rows:
        width = max(12, *(len(row.name) for row in rows))
        yield f"{'figure':<{width}} {'mean':>7} {'p95':>6}  range"
        for row in rows:
            yield (f"{row.name:<{width}} {row.mean:>7.1f} {row.high:>6}  {row.least} to {row.most}")


def _spelled(options: msgspec.Struct) -> str:
    chosen = msgspec.to_builtins(options).items()
    return ", ".join(f"{name}={spell(value)}" for name, value in chosen)
