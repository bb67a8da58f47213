"""Nikitin Towers: whole games between bots, what one placement costs, and sizes on the wire.

A placement is timed beside a build of Five Towers in the same run, so the machine's speed cancels
out of their ratio. Bots play all games first; then the commands alone are replayed and timed, as a
room decides them for people. So no bot has looked at these towers just before, and between two
replays of a game all others pass through the caches.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeAlias

from tests.programs.bench.report import Figure, span
from towerhall_protocol.codec import encode
from towerhall_protocol.merge_patch import diff
from towerhall_server.cli.arena import BotMove, match_seed, opening, play
from towerhall_server.cli.progress import progress
from towerhall_server.game import AnyGame, Rejected, discover
from towerhall_server.games.nikitin_towers.stability import forget

WHOLE_GAMES = 20
WHOLE_BARS = {"mean": 1.0, "slowest": 4.0}
"""CPU seconds of a game: what is aimed at, and what no game may pass."""
STEP_GAMES = 12
REPEATS = 7
WARM_UP = 2
STEPS = ("decide", "fold", "view", "diff", "offers")
SIZED_GAMES = 4
MIDDLE_BLOCKS = 36
"""Blocks in three towers at the middle of a game: 12 in each, more or less."""
BOTS = (
    ("careful", "careful"),
    ("careful", "mean"),
    ("ring", "ring"),
    ("hard", "easy", "medium"),
    ("ring", "ring", "ring"),
    ("careful", "careful", "careful"),
    ("random", "random", "random"),
)


def measure() -> list[Figure]:
    """Seconds of whole games, microseconds of placements, bytes of views and patches."""
    game = discover()["nikitin_towers"]
    return [*_whole_games(game), *_placements(game), *_sizes(game)]


# --- whole games ---


def _whole_games(game: AnyGame) -> list[Figure]:
    seconds, turns = [], []
    for number in progress(range(WHOLE_GAMES), WHOLE_GAMES, "whole games"):
        forget()
        began = process_time()
        steps = _played(game, ("careful", "careful"), "standard", number)
        seconds.append(process_time() - began)
        turns.append(steps[-1].after.turns)
    note = f"{WHOLE_GAMES} games of {min(turns)} to {max(turns)} turns, CPU time"
    found = {"mean": sum(seconds) / len(seconds), "slowest": max(seconds)}
    return [
        Figure(f"careful v careful, {name} game", value, "s", at_most=WHOLE_BARS[name], note=note)
        for name, value in found.items()
    ]


def _played(game: AnyGame, bots: Sequence[str], preset: str, number: int) -> list[BotMove]:
    return list(play(game, game.presets[preset], bots, match_seed(15, number)))


# --- one placement beside one build ---


class Replay(NamedTuple):
    """A game to be decided again: its beginning, and its commands."""

    game: AnyGame
    start: Any
    commands: list[tuple[Any, dict[str, object]]]
    wanted: str
    """The command whose cost counts."""


class Cost(NamedTuple):
    """Seconds of one command: all of it, and each step."""

    whole: float
    steps: tuple[float, ...]


def _placements(game: AnyGame) -> list[Figure]:
    five = discover()["five_towers"]
    ours = [_replay(game, ("careful", "careful"), number, "place") for number in range(STEP_GAMES)]
    theirs = [_replay(five, ("random",) * 4, number, "build") for number in range(STEP_GAMES * 4)]
    runs: dict[str, list[Cost]] = {name: [] for name in ("build", "place", "known", "cold")}
    for number in progress(range(WARM_UP + REPEATS), WARM_UP + REPEATS, "placements"):
        found = {
            "build": _middle(cost for replay in theirs for cost in _costs(replay)),
            "place": _middle(cost for replay in ours for cost in _costs(replay)),
            "known": _middle(cost for replay in ours for cost in _costs(replay, _ask_first)),
            "cold": _middle(cost for replay in ours for cost in _costs(replay, _forget_first)),
        }
        if number >= WARM_UP:
            for name, cost in found.items():
                runs[name].append(cost)
    best = {name: min(costs) for name, costs in runs.items()}
    ratios = {
        name: [one.whole / build.whole for one, build in zip(costs, runs["build"], strict=True)]
        for name, costs in runs.items()
    }
    note = f"p50 of placements that stand in {STEP_GAMES} games, best of {REPEATS} repeats"
    return [
        Figure("one build of Five Towers", best["build"].whole * 1e6, "us"),
        Figure("one placement", best["place"].whole * 1e6, "us", note=note),
        *(
            Figure(f"  {name}", seconds * 1e6, "us", note="p50 of its own")
            for name, seconds in zip(STEPS, best["place"].steps, strict=True)
        ),
        Figure("  if the tower was forgotten", best["cold"].whole * 1e6, "us"),
        Figure("  without the standing check", best["known"].whole * 1e6, "us"),
        Figure(
            "placement / build, without the check",
            median(ratios["known"]),
            "x",
            at_most=2.0,
            note=span(ratios["known"]),
        ),
        Figure(
            "placement / build, with the check",
            median(ratios["place"]),
            "x",
            note=span(ratios["place"]),
        ),
    ]


def _replay(game: AnyGame, bots: Sequence[str], number: int, wanted: str) -> Replay:
    steps = _played(game, bots, "standard", number)
    start = opening(game, game.presets["standard"], len(bots), match_seed(15, number))
    return Replay(game, start, [(step.seat, step.command) for step in steps], wanted)


Before: TypeAlias = Callable[[AnyGame, Any, Any, dict[str, object]], object]
"""What happens before a command, out of the measured time."""


def _nothing_first(*_: object) -> None:
    return None


def _ask_first(game: AnyGame, state: Any, seat: Any, command: dict[str, object]) -> bool:
    """Ask whether the command is slow, as a room does. This finds out whether the tower stands."""
    return game.slow(state, seat, command)


def _forget_first(*_: object) -> None:
    forget()


def _costs(replay: Replay, before: Before = _nothing_first) -> Iterator[Cost]:
    """The cost of each wanted command that needed no collapse."""
    game, state = replay.game, replay.start
    shown = game.view(state, None)
    for seat, command in replay.commands:
        before(game, state, seat, command)
        began = perf_counter()
        events = game.decide(state, seat, command)
        decided = perf_counter()
        if isinstance(events, Rejected):
            raise TypeError(f"a replayed command was refused: {events}")
        state = game.play(state, events)
        folded = perf_counter()
        view = game.view(state, None)
        viewed = perf_counter()
        diff(shown, view)
        compared = perf_counter()
        if acting := game.to_act(state):
            game.offers(state, acting[0])
        offered = perf_counter()
        shown = view
        if command["command"] == replay.wanted and not _has_collapse(game, events):
            marks = (began, decided, folded, viewed, compared, offered)
            steps = tuple(marks[at + 1] - marks[at] for at in range(len(STEPS)))
            yield Cost(offered - began, steps)


def _has_collapse(game: AnyGame, events: Sequence[Any]) -> bool:
    return any(game.facts(event)[0] == "tower_collapsed" for event in events)


def _middle(costs: Iterable[Cost]) -> Cost:
    """The p50 of the whole, and of each step by itself."""
    found = list(costs)
    steps = zip(*(cost.steps for cost in found), strict=True)
    return Cost(median(cost.whole for cost in found), tuple(map(median, steps)))


# --- sizes ---


def _sizes(game: AnyGame) -> list[Figure]:
    views, patches, offers = [], [], []
    runs = [
        (bots, preset, number)
        for bots in BOTS
        for preset in game.presets
        for number in range(SIZED_GAMES)
    ]
    for run in progress(runs, len(runs), "sizes"):
        for step in _played(game, *run):
            before, after = game.view(step.before, None), game.view(step.after, None)
            towers = step.before.towers
            if len(towers) == 3 and sum(len(each.blocks) for each in towers) == MIDDLE_BLOCKS:
                views.append(len(encode(before)))
            if step.command["command"] == "place" and not _has_collapse(game, step.events):
                patches.append(len(encode(diff(before, after))))
            offers.append(len(encode(list(game.offers(step.before, step.seat)))))
    games = f"{len(runs)} games"
    return [
        Figure(
            "largest view, three towers of 12",
            max(views),
            "bytes",
            at_most=1200,
            note=f"mean {sum(views) / len(views):.0f}, {len(views)} views of {games}",
        ),
        Figure(
            "largest patch of a placement",
            max(patches),
            "bytes",
            at_most=120,
            note=f"mean {sum(patches) / len(patches):.0f}, {len(patches)} that stood, {games}",
        ),
        Figure(
            "largest offers",
            max(offers),
            "bytes",
            note=f"mean {sum(offers) / len(offers):.0f}, {len(offers)} decisions",
        ),
    ]
