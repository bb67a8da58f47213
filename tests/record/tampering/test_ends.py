"""Who ended a room, and why: an end cannot be told as another one."""

import random
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.record.record_games import HOST, PEOPLE, Tape, deal, new_tape, seat_everybody
from tests.record.tampering.forging import (
    codes,
    first,
    has,
    kept_of,
    record_of,
    replace,
    with_commit,
)
from towerhall_server.room.closing import Closer, abandon_step, close_step
from towerhall_server.room.commits import THE_ROOM, Cause, Commit, encode_commit
from towerhall_server.room.events import EndWanted, RoomClosed, SecretRevealed, Settings
from towerhall_server.room.steps import Plan

ADA, BEN = PEOPLE[:2]


def playing() -> Tape:
    tape = new_tape(TILE_DUEL, 3)
    deal(tape, seat_everybody(tape, 3))
    return tape


@cache
def agreed() -> Tape:
    """Three people, of whom the last one to want the end thinks twice about it."""
    tape = playing()
    for person in PEOPLE[:3]:
        tape.say(person, "want_end")
        if person is BEN:
            tape.say(person, "want_end", wanted=False)
            tape.say(person, "want_end")
    return tape


@cache
def closed(by: Closer, operator: str) -> Tape:
    settings = Settings(bot_delay_ms=300)
    options = TILE_DUEL.presets["standard"]
    plan = Plan(TILE_DUEL, options, 3, settings, HOST.id, operator=operator)
    tape = Tape(plan, random.Random(4))
    deal(tape, seat_everybody(tape, 3))
    tape.append(close_step(tape.room, "maintenance", by))
    return tape


def ending(tape: Tape, reason: str) -> tuple[RoomClosed, SecretRevealed]:
    return RoomClosed(reason), SecretRevealed(tape.secret)


def told_as(tape: Tape, reason: str, command: Mapping[str, Any]) -> bytes:
    """The record of a closed room with another end."""
    seq, commit = first(tape, has(RoomClosed))
    changed = replace(commit, room=ending(tape, reason), command=dict(command))
    return record_of(tape, with_commit(tape, seq, changed))


def test_ends_by_agreement_and_by_those_who_may_close_are_believed() -> None:
    assert codes(agreed().record()) == set()
    for by, operator in (("operator", "acme"), ("service", "acme"), ("service", "")):
        assert codes(closed(by, operator).record()) == set()


@pytest.mark.parametrize("wanting", range(3))
def test_an_end_that_not_all_wanted_is_refused(wanting: int) -> None:
    tape = playing()
    for person in PEOPLE[:wanting]:
        tape.say(person, "want_end")
    last = tape.entries[-1]
    made = Commit(THE_ROOM, ending(tape, "agreed"))
    by_one = Commit(
        Cause(0, ADA.id, "o-Ada", 99),
        (EndWanted(0, True), *ending(tape, "agreed")),
        command={"command": "want_end"},
    )
    for commit in (made, by_one):
        more = replace(last, commit_id=bytes(16), blob=encode_commit(commit))
        record = record_of(tape, [*tape.entries, more])
        assert codes(record) & {"decision", "undecided"}


def test_an_end_by_agreement_is_refused_if_one_voice_of_it_is_taken_back() -> None:
    tape = agreed()
    record = record_of(tape, [*tape.entries[:-2], tape.entries[-1]])
    assert codes(record) & {"decision", "undecided"}


@pytest.mark.parametrize("reason", ["agreed", "abandoned", "cheating", "closed_by_operator"])
def test_a_close_is_not_relabelled(reason: str) -> None:
    for by, operator in (("operator", "acme"), ("service", "")):
        tape = closed(by, operator)
        command = {"command": "close", "by": by, "reason": "maintenance"}
        assert codes(told_as(tape, reason, command)) & {"decision", "undecided"}
        assert codes(told_as(tape, reason, {})) & {"decision", "undecided", "early"}
        if reason in ("agreed", "abandoned"):
            assert codes(told_as(tape, reason, {**command, "reason": reason})) >= {"undecided"}


@pytest.mark.parametrize(
    "command",
    [
        {"command": "close", "by": "operator", "reason": "maintenance"},
        {"command": "close", "by": "nobody", "reason": "maintenance"},
        {"command": "close", "reason": "maintenance"},
        {"command": "close", "by": "service", "reason": "Maintenance!"},
        {"command": "close", "by": "service", "reason": "maintenance", "more": 1},
        {"command": "want_end"},
    ],
)
def test_nobody_else_closes_a_room_of_no_operator(command: dict[str, Any]) -> None:
    tape = closed("service", "")
    reason = command.get("reason", "agreed")
    assert codes(told_as(tape, reason, command)) & {"undecided", "decision"}


def test_a_close_for_another_reason_of_the_same_closer_is_shown_by_a_mark() -> None:
    tape = closed("operator", "acme")
    forged = told_as(tape, "cheating", {"command": "close", "by": "operator", "reason": "cheating"})
    assert codes(forged) == set()
    assert codes(forged, kept_of(tape)) == {"other_mark"}


def test_a_room_that_nobody_left_is_not_abandoned() -> None:
    tape = playing()
    tape.append(abandon_step(tape.room))
    assert codes(tape.record()) == {"early"}
