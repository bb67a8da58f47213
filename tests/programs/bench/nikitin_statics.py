"""What the statics of Nikitin Towers cost: one check, one collapse, one search for a place.

Positions come from played games of three simple builders: one builds high, one low, one anywhere.
Only blocks that their own footing holds are checked: all others are refused at once. Times are CPU
times of this process, so other work on the machine counts as little as it can.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from time import process_time
from typing import TypeVar

from tests.games.nikitin_towers.positions import POLICIES, SLOPE, played
from tests.programs.bench.report import Figure
from towerhall_server.cli.progress import progress
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE, KINDS_OF_SIZE, ORIENTATIONS
from towerhall_server.games.nikitin_towers.collapse import collapse
from towerhall_server.games.nikitin_towers.search import candidates, find_standing
from towerhall_server.games.nikitin_towers.stability import forget, stands, stands_with
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, columns

GAMES = 200
CHECKS_PER_TOWER = 40
SEARCH_EVERY = 2
"""Every second position of a game is searched."""
HARD_KINDS = [kind for size in (4, 5, 6) for kind in KINDS_OF_SIZE[size]]
SMALL, LARGE = 30, 45
Answer = TypeVar("Answer")


def measure() -> list[Figure]:
    games = list(progress(_games(), GAMES, "games of Nikitin Towers"))
    searches = _search_times(games)
    nowhere = [seconds for seconds, found in searches if not found]
    small, large = _with_blocks(games, SMALL), _with_blocks(games, LARGE)
    checks, falling = _check_times(small)
    checks_large, _ = _check_times(large)
    collapses = _collapse_times(falling)
    return [
        _figure("standing check, 30 blocks, p50", checks, 0.5, at_most=1.2),
        _figure("standing check, 30 blocks, p99", checks, 0.99, at_most=5.0),
        _figure("standing check, 45 blocks, p50", checks_large, 0.5),
        _figure("standing check, 45 blocks, p99", checks_large, 0.99, at_most=9.0),
        _figure("a forgotten tower, 30 blocks, p50", _forgotten_times(small), 0.5),
        _figure("collapse, 30 blocks, p50", collapses, 0.5, at_most=15.0),
        _figure("collapse, 30 blocks, p99", collapses, 0.99),
        _figure("columns of 24 orientations, p99", _column_times(small), 0.99, at_most=3.0),
        _figure("search, any, p50", [seconds for seconds, _ in searches], 0.5),
        _figure("search, nothing stands, p50", nowhere, 0.5),
        _figure("search, nothing stands, p99", nowhere, 0.99, at_most=1000.0),
        _figure("search, the worst", nowhere, 1.0),
    ]


def _games() -> Iterator[list[Tower]]:
    for number in range(GAMES):
        yield list(played(number, POLICIES[number % len(POLICIES)], LARGE - 1))


def _with_blocks(games: Sequence[list[Tower]], blocks: int) -> list[Tower]:
    """Towers to which one block more makes that number, or at most three less."""
    towers = [game[: blocks - 1][-1] for game in games]
    return [tower for tower in towers if len(tower.blocks) >= blocks - 4][:60]


def _timed(work: Callable[[], Answer]) -> tuple[float, Answer]:
    began = process_time()
    answer = work()
    return process_time() - began, answer


def _check_times(towers: Sequence[Tower]) -> tuple[list[float], list[Tower]]:
    """Seconds of checks, and towers that do not stand."""
    chance = Random("checks")
    times: list[float] = []
    falling: list[Tower] = []
    for tower in towers:
        stands(tower, SLOPE)
        kinds = chance.sample(list(CATALOGUE), 4)
        found = [one.placed for kind in kinds for one in candidates(tower, kind, SLOPE)]
        for placed in chance.sample(found, min(CHECKS_PER_TOWER, len(found))):
            seconds, held = _timed(partial(stands_with, tower, placed, SLOPE))
            times.append(seconds)
            if not held and len(falling) < len(times) / 8:
                falling.append(tower.plus(placed))
    return times, falling


def _collapse_times(towers: Sequence[Tower]) -> list[float]:
    """As in a game: the tower before the last block is known."""
    times = []
    for tower in towers:
        forget()
        stands(Tower(tower.blocks[:-1]), SLOPE)
        times.append(_timed(partial(collapse, tower, SLOPE))[0])
    return times


def _forgotten_times(towers: Sequence[Tower]) -> list[float]:
    times = []
    for tower in towers:
        forget()
        times.append(_timed(partial(stands, Tower(tower.blocks), SLOPE))[0])
    return times


def _column_times(towers: Sequence[Tower]) -> list[float]:
    return [_timed(partial(_all_columns, Tower(tower.blocks)))[0] for tower in towers]


def _all_columns(tower: Tower) -> int:
    return sum(len(columns(tower, shape)) for shape in ORIENTATIONS["F3"])


def _search_times(games: Sequence[list[Tower]]) -> list[tuple[float, bool]]:
    """Seconds of searches for a hard block, and whether a place was found."""
    chance = Random("searches")
    times = []
    for game in progress(games, GAMES, "games searched"):
        for tower in game[::SEARCH_EVERY]:
            kind = chance.choice(HARD_KINDS)
            stands(tower, SLOPE)
            seconds, found = _timed(partial(find_standing, tower, kind, SLOPE))
            times.append((seconds, isinstance(found, Placed)))
    return times


def _figure(
    name: str, seconds: Sequence[float], share: float, at_most: float | None = None
) -> Figure:
    ranked = sorted(seconds)
    value = ranked[min(len(ranked) - 1, int(share * len(ranked)))]
    return Figure(name, value * 1e3, "ms", at_most=at_most, note=f"N = {len(ranked)}")
