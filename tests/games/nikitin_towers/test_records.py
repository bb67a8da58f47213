"""Records of whole games: every die and lot is derived again, and one that was changed is found."""

from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.examples import examples
from tests.record.record_games import (
    HOST,
    Tape,
    commits_of,
    deal,
    forged,
    relinked,
    seat_everybody,
    written,
)
from towerhall_protocol.commands import base64url
from towerhall_server.game import AnyGame
from towerhall_server.games.nikitin_towers import GAME
from towerhall_server.games.nikitin_towers.events import (
    BlockChosen,
    BlockPlaced,
    BlockReturned,
    DieRolled,
    GameEnded,
    GameStarted,
    TowerCollapsed,
)
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.live.record_store import make_record
from towerhall_server.record.verify import check
from towerhall_server.room.commits import Commit
from towerhall_server.room.events import Settings
from towerhall_server.room.steps import Plan

GAMES: Mapping[str, AnyGame] = {GAME.name: GAME}
replace = msgspec.structs.replace


class Kind(NamedTuple):
    """How a game is played."""

    seats: int
    persons: int
    options: Options
    turn_seconds: int
    seed: int


KINDS = tuple(
    Kind(
        seats=2 + seed % 2,
        persons=2 + seed % 2 if seed % 4 else 1,
        options=Options(
            win="ring" if seed % 4 > 1 else "height",
            lean="calm" if seed % 7 == 3 else "normal",
            auto_roll=seed % 5 != 1,
        ),
        turn_seconds=20 if seed % 3 else 0,
        seed=seed,
    )
    for seed in range(20)
)
TIMED = Kind(3, 3, Options(auto_roll=False), 20, 99)
"""Persons with a clock who roll for themselves: with lots, and blocks that went back."""


@cache
def played(kind: Kind) -> Tape:
    settings = Settings(turn_seconds=kind.turn_seconds, bot_delay_ms=300)
    plan = Plan(GAME, kind.options, kind.seats, settings, HOST.id)
    tape = Tape(plan, Random(kind.seed))
    deal(tape, seat_everybody(tape, kind.persons, sealed=(0,)))
    tape.play_on()
    return tape


@cache
def recorded(kind: Kind) -> bytes:
    tape = played(kind)
    return make_record(GAMES, tape.secret, tape.entries)


def codes(record: bytes) -> set[str]:
    return {finding.code for finding in check(record, GAMES).findings}


# --- twenty games ---


@pytest.mark.parametrize("kind", KINDS[:: examples(2, 1)], ids=lambda kind: str(kind.seed))
def test_a_game_gives_a_record_that_is_believed(kind: Kind) -> None:
    report = check(recorded(kind), GAMES)
    assert report.findings == ()
    tape, summary = played(kind), report.summary
    assert summary is not None
    assert summary.ending == "result"
    assert summary.decided == summary.commits == len(tape.entries)
    events = [event for commit in commits_of(tape) for event in commit.game]
    (began,) = (event for event in events if isinstance(event, GameStarted))
    opening = sum(dice != -1 for round_ in began.rolls for dice in round_)
    dice = sum(isinstance(event, DieRolled) for event in events)
    lots = sum(isinstance(event, BlockChosen) and event.how == "lot" for event in events)
    assert summary.draws == opening + dice + lots


def test_the_games_cover_what_can_happen() -> None:
    assert len(KINDS) == 20
    seen, how = set(), set()
    for kind in KINDS:
        for commit in commits_of(played(kind)):
            for event in commit.game:
                seen.add(type(event))
                how |= {getattr(event, name, "") for name in ("how", "why")}
    assert seen == {
        GameStarted, DieRolled, BlockChosen, BlockPlaced, TowerCollapsed, BlockReturned, GameEnded,
    }  # fmt: skip
    assert how >= {"choice", "forced", "lot", "time", "stall"}
    assert {(kind.seats, kind.options.win) for kind in KINDS} == {
        (seats, win) for seats in (2, 3) for win in ("height", "ring")
    }
    assert {kind.options.auto_roll for kind in KINDS} == {True, False}


# --- lies ---


def first(tape: Tape, wanted: Callable[[Any], bool]) -> tuple[int, Commit, int]:
    """The seq of the first commit with such an event, the commit, and the event's place."""
    return next(
        (seq, commit, at)
        for seq, commit in enumerate(commits_of(tape), start=1)
        for at, event in enumerate(commit.game)
        if wanted(event)
    )


def lied(tape: Tape, wanted: Callable[[Any], bool], change: Callable[[Any], Any]) -> bytes:
    """The record that a server would make which had written another event there."""
    seq, commit, at = first(tape, wanted)
    events = (*commit.game[:at], change(commit.game[at]), *commit.game[at + 1 :])
    changed = forged(tape, {seq: replace(commit, game=events)})
    return written(recorded(TIMED), relinked(changed))


def other(number: int) -> int:
    return number % 6 + 1


def is_die_of(turn: int) -> Callable[[Any], bool]:
    return lambda event: isinstance(event, DieRolled) and event.turn == turn


@pytest.mark.parametrize("turn", [1, 7, 20])
def test_a_die_that_was_changed_is_found(turn: int) -> None:
    changes: tuple[Callable[[DieRolled], DieRolled], ...] = (
        lambda event: replace(event, die=other(event.die)),
        lambda event: replace(event, die=other(event.die), size=other(event.die)),
        lambda event: replace(event, size=other(event.size)),
    )
    for change in changes:
        assert "decision" in codes(lied(played(TIMED), is_die_of(turn), change))


def test_a_die_of_the_opening_that_was_changed_is_found() -> None:
    def change(event: GameStarted) -> GameStarted:
        (dice, *more) = event.rolls
        return replace(event, rolls=((other(dice[0]), *dice[1:]), *more))

    found = lied(played(TIMED), lambda event: isinstance(event, GameStarted), change)
    assert "decision" in codes(found)


def test_a_lot_that_was_changed_is_found() -> None:
    def is_lot(event: Any) -> bool:
        return isinstance(event, BlockChosen) and event.how == "lot" and event.block[0] > "C"

    def change(event: BlockChosen) -> BlockChosen:
        return replace(event, block=event.block[0] + str(other(int(event.block[1]))))

    assert "decision" in codes(lied(played(TIMED), is_lot, change))


def test_a_tower_that_is_said_to_stand_is_found() -> None:
    tape = played(TIMED)
    seq, commit, at = first(tape, lambda event: isinstance(event, TowerCollapsed))
    events = (*commit.game[:at], *commit.game[at + 1 :])
    found = written(recorded(TIMED), relinked(forged(tape, {seq: replace(commit, game=events)})))
    assert "decision" in codes(found)


def test_a_number_that_the_record_says_was_drawn_is_compared_with_the_seed() -> None:
    document: Any = msgspec.json.decode(recorded(TIMED))
    draws = document["draws"]
    assert len(draws) > 40
    text = msgspec.json.encode(draws)
    for at in (0, len(draws) // 2, len(draws) - 1):
        document["draws"] = msgspec.json.decode(text)
        drawn = document["draws"][at]  # deal, act, kind of draw, bound, number
        drawn[-1] = (drawn[-1] + 1) % drawn[-2]
        assert "draw" in codes(msgspec.json.encode(document))


def test_dice_of_another_secret_are_found() -> None:
    document: Any = msgspec.json.decode(recorded(TIMED))
    document["proof"]["secret"] = base64url(bytes(32))
    assert codes(msgspec.json.encode(document)) >= {"commitment", "decision"}
