"""Bots' moves: those that the bots make, and no others, for whichever reason a bot plays."""

import os
import random
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.record.record_games import (
    HOST,
    PEOPLE,
    STORIES,
    Tape,
    deal,
    record_of_story,
    seat_everybody,
)
from tests.record.tampering.forging import kept_of
from tests.room.pure_rooms import accepted
from towerhall_protocol.evidence import Evidence
from towerhall_server.game import AnyGame, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.record_store import make_record
from towerhall_server.record.verify import check
from towerhall_server.room import steps
from towerhall_server.room.commits import Cause
from towerhall_server.room.events import Settings
from towerhall_server.room.steps import Plan, Step

SOME = range(3)


class Crooked(Tape):
    """A server that moves for its bots as it likes, sooner or later."""

    default = False
    """Whether it plays the game's default for them."""

    def wait(self) -> None:
        seat = steps.bot_to_act(self.room)
        if seat is None or self.chance.random() < 0.7:
            super().wait()
        else:
            at_ms = steps.deadline_ms(self.room) + self.chance.randrange(3)
            self.append(self.other(seat), at_ms)

    def other(self, seat: Seat) -> Step:
        if self.default:
            return accepted(steps.stand_in_step(self.room, seat))
        rules, game = self.room.rules, self.room.game
        commands = [each for offer in rules.offers(game, seat) for each in offer.commands()]
        body = dict(self.chance.choice(commands))
        events = rules.decide(game, seat, body)
        assert isinstance(events, tuple)
        return steps.play(self.room, Cause(seat), body, events)


def played(kind: type[Tape], rules: AnyGame, seed: int, *, stand_ins: bool = False) -> Tape:
    settings = Settings(bot_delay_ms=300)
    plan = Plan(rules, rules.presets["standard"], 3, settings, HOST.id)
    tape = kind(plan, random.Random(seed))
    people = seat_everybody(tape, 3 if stand_ins else 1, sealed=(0,))
    deal(tape, people)
    if stand_ins:
        tape.say(PEOPLE[1], "leave", level=rules.levels[-1])
        tape.say(PEOPLE[2], "resign")
    tape.play_on()
    return tape


def codes(tape: Tape, rules: AnyGame, *seen: Evidence) -> set[str]:
    games = {rules.name: rules}
    record = make_record(games, tape.secret, tape.entries)
    return {finding.code for finding in check(record, games, seen=seen).findings}


@pytest.mark.parametrize("stand_ins", [False, True], ids=["bots", "stand-ins"])
@pytest.mark.parametrize("rules", [FIVE_TOWERS, TILE_DUEL], ids=lambda rules: rules.name)
def test_the_moves_of_bots_and_stand_ins_come_out_again(rules: AnyGame, stand_ins: bool) -> None:
    for seed in SOME:
        assert codes(played(Tape, rules, seed, stand_ins=stand_ins), rules) == set()


@pytest.mark.parametrize("stand_ins", [False, True], ids=["bots", "stand-ins"])
@pytest.mark.parametrize("default", [False, True], ids=["any move", "the default"])
def test_another_move_of_a_bot_is_refused(default: bool, stand_ins: bool) -> None:
    class Liar(Crooked):
        pass

    Liar.default = default
    for seed in SOME:
        assert codes(played(Liar, FIVE_TOWERS, seed, stand_ins=stand_ins), FIVE_TOWERS) == {"bot"}


def raises(view: Any, offers: Any, entropy: bytes) -> dict[str, object]:
    raise RuntimeError("it cannot go on")


def breaks_rules(view: Any, offers: Any, entropy: bytes) -> dict[str, object]:
    return {"command": "bid", "number": 10**6}


@pytest.mark.parametrize("bot", [raises, breaks_rules])
def test_the_default_stands_for_a_bot_that_fails_and_nothing_else_does(bot: Any) -> None:
    failing = replace(FIVE_TOWERS, bots={**FIVE_TOWERS.bots, "easy": bot, "medium": bot})

    class Replaced(Tape):
        """As `errands` does it."""

        def wait(self) -> None:
            seat = steps.bot_to_act(self.room)
            assert seat is not None
            at_ms = steps.deadline_ms(self.room)
            self.append(accepted(steps.stand_in_step(self.room, seat)), at_ms)

    tape = played(Replaced, failing, 1)
    assert codes(tape, failing) == set()
    assert codes(tape, FIVE_TOWERS) == {"bot"}, "a sound bot would have moved"
    assert codes(played(Tape, FIVE_TOWERS, 1), failing) == {"bot"}, "a failing bot did move"


def test_another_history_with_the_same_secret_is_shown_by_a_mark() -> None:
    """The people of it moved otherwise: nothing in the record can tell."""
    tape = played(Tape, FIVE_TOWERS, 5)

    class Elsewhere(Tape):
        def choice(self, seat: Seat) -> dict[str, Any]:
            found = super().choice(seat)
            return found if len(self.entries) < 20 else super().choice(seat)

    other = played(Elsewhere, FIVE_TOWERS, 5)
    assert other.secret == tape.secret
    assert other.entries != tape.entries
    assert codes(other, FIVE_TOWERS) == set()
    assert codes(other, FIVE_TOWERS, kept_of(tape)) == {"other_mark"}


VERIFIED = """\
import sys
from towerhall_server.game import discover
from towerhall_server.record.verify import verify
print(verify(sys.stdin.buffer.read(), discover()))
"""


@pytest.mark.parametrize("seed", ["1", "2"])
def test_bots_move_alike_whatever_the_seed_of_hashes_is(seed: str) -> None:
    """Sets of texts are in another order in each process, unless that is told."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    for story in STORIES[:2]:
        ran = subprocess.run(
            [sys.executable, "-c", VERIFIED],
            input=record_of_story(story),
            env=environment,
            capture_output=True,
            check=True,
        )
        assert ran.stdout == b"()\n"
