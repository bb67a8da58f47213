"""What it would save that a game tells how its view changes: `Game.patch`.

Games are played at random once, and their commits are gone through again on fresh states: so no
part of a view is there yet. For each game two ways take turns: both views are made and
compared, and the patch is told. A game without `patch` has the first way only: what it costs is the
most that a patch could save. It is told as a share of all that the game does for a command.

CPU time of this thread is counted, which other processes change less than the time of day.
"""

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from statistics import median
from time import thread_time_ns
from typing import Any

import msgspec

from tests.programs.bench.games.bid import GAME as BID
from tests.programs.bench.report import Figure, span
from towerhall_protocol.fairness import Act
from towerhall_protocol.merge_patch import diff
from towerhall_server.cli.arena import match_seed, opening
from towerhall_server.cli.progress import progress
from towerhall_server.game import AnyGame, Rejected, Seat, discover

REPEATS = 15
GAMES = {"five_towers": 20, "nikitin_towers": 2, BID.name: 200}


class Commit(msgspec.Struct, frozen=True):
    before: Any
    seat: Seat
    command: dict[str, object]
    events: tuple[Any, ...]
    after: Any


def measure(repeats: int = REPEATS, share: float = 1.0) -> list[Figure]:
    """Microseconds of a command, and what they are for. `share` of the games are played."""
    games = {**discover(), BID.name: BID}
    played = [
        (games[name], commits)
        for name, count in progress(GAMES.items(), len(GAMES), "games for patches")
        for commits in [_played(games[name], max(1, int(count * share)))]
    ]
    return [figure for game, commits in played for figure in _figures(game, commits, repeats)]


def _figures(game: AnyGame, commits: Sequence[Commit], repeats: int) -> list[Figure]:
    ways: dict[str, Callable[[Sequence[Commit]], int]] = {
        "all": partial(_commanded, game),
        "views": partial(_compared, game),
    }
    if game.patch is not None:
        ways["told"] = partial(_told, game.patch)
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(repeats):
        for name in Random(number).sample(list(ways), len(ways)):
            taken = ways[name](_fresh(game, commits))
            spent[name].append(taken / len(commits) / 1000)
    shares = [views / all_ for views, all_ in zip(spent["views"], spent["all"], strict=True)]
    note = f"{span(spent['views'])}; {len(commits)} commands"
    found = [
        Figure(f"{game.name}: views made and compared", median(spent["views"]), "us", note=note),
        Figure("  against decide, fold and offers", median(shares), "x", note=span(shares)),
    ]
    if "told" in spent:
        told = spent["told"]
        found.append(Figure(f"{game.name}: patch told", median(told), "us", note=span(told)))
    return found


def _played(game: AnyGame, count: int) -> list[Commit]:
    """The commits of so many random games of two."""
    commits = []
    for number in range(count):
        seed = match_seed(0, number)
        chance = Act(seed, 1000)
        state = opening(game, game.presets["standard"], 2, seed)
        while seats := game.to_act(state):
            offers = game.offers(state, seats[0])
            commands = [command for offer in offers for command in offer.commands()]
            while True:
                command = commands[chance.below(len(commands))]
                events = game.decide(state, seats[0], command)
                if not isinstance(events, Rejected):  # else the offer was unsure
                    break
            after = game.play(state, events)
            commits.append(Commit(state, seats[0], command, events, after))
            state = after
    return commits


def _fresh(game: AnyGame, commits: Sequence[Commit]) -> list[Commit]:
    """The same commits on states that nobody has looked at."""
    found: list[Commit] = []
    last: Commit | None = None
    for commit in commits:
        if last is not None and last.after is commit.before:
            before = found[-1].after
        else:
            stored = msgspec.msgpack.encode(commit.before)
            before = msgspec.msgpack.decode(stored, type=game.state_type)
        after = game.play(before, commit.events)
        found.append(Commit(before, commit.seat, commit.command, commit.events, after))
        last = commit
    return found


def _commanded(game: AnyGame, commits: Sequence[Commit]) -> int:
    began = thread_time_ns()
    for commit in commits:
        game.decide(commit.before, commit.seat, commit.command)
        after = game.play(commit.before, commit.events)
        for seat in game.to_act(after):
            game.offers(after, seat)
    return thread_time_ns() - began


def _compared(game: AnyGame, commits: Sequence[Commit]) -> int:
    shown: dict[str, object] = {}
    began = thread_time_ns()
    for commit in commits:
        view = game.view(commit.after, None)
        diff(shown, view)
        shown = view
    return thread_time_ns() - began


def _told(patch: Callable[[Any, Any, Any], object], commits: Sequence[Commit]) -> int:
    began = thread_time_ns()
    for commit in commits:
        patch(commit.before, commit.after, commit.events)
    return thread_time_ns() - began
