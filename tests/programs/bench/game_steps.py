"""What one command costs a game: decide, fold, view, diff, and the offers of the next seat.

Whole random games of four are played, so closing calls, builds and new rounds have their natural
share. Every repeat plays new games, so that nothing is remembered from the one before; their spread
is the machine's. Other work on it can only add time, so the best repeat is nearest to the truth. A
fixed loop of plain Python is timed beside it, to tell a slow machine from slow code.
"""

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from timeit import repeat

from tests.programs.bench.report import Figure
from towerhall_protocol.fairness import Act
from towerhall_protocol.merge_patch import diff
from towerhall_server.cli.arena import match_seed, opening
from towerhall_server.cli.progress import progress
from towerhall_server.game import AnyGame, Rejected, discover

SEATS = 4
GAMES = 60
REPEATS = 15
WARM_UP = 4
STEPS = ("decide", "fold", "view", "diff", "offers")
BAR_MICROSECONDS = 70.0


def measure() -> list[Figure]:
    """Mean microseconds per command, and each step's share of it."""
    game = discover()["five_towers"]
    for series in range(WARM_UP):  # fills the caches, as a server's first minutes do
        _play_games(game, series)
    repeats = list(progress(_repeats(game), REPEATS, "steps of a command"))
    totals = [sum(seconds) / count * 1e6 for seconds, count in repeats]
    best, commands = repeats[totals.index(min(totals))]
    spread = (
        f"best of {REPEATS} x {GAMES} games, median {median(totals):.1f}, worst {max(totals):.1f}"
    )
    figures = [Figure("per command", min(totals), "us", at_most=BAR_MICROSECONDS, note=spread)]
    for name, seconds in zip(STEPS, best, strict=True):
        share = f"{seconds / sum(best):.0%} of it"
        figures.append(Figure(f"  {name}", seconds / commands * 1e6, "us", note=share))
    loop = min(repeat(lambda: sum(range(1000)), number=1000, repeat=REPEATS)) * 1000
    figures.append(Figure("fixed loop, sum(range(1000))", loop, "us", note="the machine's speed"))
    return figures


def _repeats(game: AnyGame) -> Iterator[tuple[list[float], int]]:
    for number in range(REPEATS):
        yield _play_games(game, WARM_UP + number)


def _play_games(game: AnyGame, series: int) -> tuple[list[float], int]:
    spent = [0.0] * len(STEPS)
    count = 0
    for number in range(GAMES):
        count += _play_one(game, match_seed(series, number), spent)
    return spent, count


def _play_one(game: AnyGame, seed: bytes, spent: list[float]) -> int:
    """One game, adding to the seconds spent in each step; returns the number of commands."""
    chance = Act(seed, 1000)
    state = opening(game, game.presets["standard"], SEATS, seed)
    shown = game.view(state, None)
    seats = game.to_act(state)
    offers = game.offers(state, seats[0])
    count = 0
    while seats:
        commands = [command for offer in offers for command in offer.commands()]
        command = commands[chance.below(len(commands))]
        began = perf_counter()
        events = game.decide(state, seats[0], command)
        decided = perf_counter()
        if isinstance(events, Rejected):
            raise TypeError(f"an offered command was refused: {events}")
        for event in events:
            state = game.fold(state, event)
        folded = perf_counter()
        view = game.view(state, None)
        viewed = perf_counter()
        diff(shown, view)
        compared = perf_counter()
        seats = game.to_act(state)
        offers = game.offers(state, seats[0]) if seats else ()
        offered = perf_counter()
        marks = (began, decided, folded, viewed, compared, offered)
        for index in range(len(STEPS)):
            spent[index] += marks[index + 1] - marks[index]
        shown = view
        count += 1
    return count
