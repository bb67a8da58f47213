"""What one command costs a game: decide, fold, view, diff, and the offers of the next seat.

Whole random games of four are played, so closing calls, builds and new rounds have their natural
share. Repeats play different games; the spread between them is mostly the machine's.
"""

from collections.abc import Iterator
from statistics import median
from time import perf_counter

from tests.bench.report import Figure
from towerhall_protocol.fairness import Act
from towerhall_protocol.merge_patch import diff
from towerhall_server.cli.arena import match_seed, opening
from towerhall_server.cli.progress import progress
from towerhall_server.game import AnyGame, Rejected, discover

SEATS = 4
GAMES = 60
REPEATS = 9
STEPS = ("decide", "fold", "view", "diff", "offers")
BAR_MICROSECONDS = 70.0


def measure() -> list[Figure]:
    """Mean microseconds per command, and each step's share of it."""
    game = discover()["five_towers"]
    _play_games(game, -1)  # fills the caches, as a server's first minutes do
    repeats = list(progress(_repeats(game), REPEATS, "steps of a command"))
    totals = [sum(seconds) / count * 1e6 for seconds, count in repeats]
    spread = f"{min(totals):.1f}..{max(totals):.1f} over {REPEATS} x {GAMES} games"
    figures = [
        Figure("per command", median(totals), "us", at_most=BAR_MICROSECONDS, note=spread),
    ]
    every = sum(sum(seconds) for seconds, _ in repeats)
    for index, name in enumerate(STEPS):
        spent = sum(seconds[index] for seconds, _ in repeats)
        commands = sum(count for _, count in repeats)
        share = f"{spent / every:.0%} of it"
        figures.append(Figure(f"  {name}", spent / commands * 1e6, "us", note=share))
    return figures


def _repeats(game: AnyGame) -> Iterator[tuple[list[float], int]]:
    for repeat in range(REPEATS):
        yield _play_games(game, repeat)


def _play_games(game: AnyGame, repeat: int) -> tuple[list[float], int]:
    spent = [0.0] * len(STEPS)
    count = 0
    for number in range(GAMES):
        count += _play_one(game, match_seed(repeat, number), spent)
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
