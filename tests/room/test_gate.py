"""Who may do what (P-56): every command by everybody at every stage of a room."""

from functools import cache
from typing import get_args

import msgspec
import pytest

from tests.room.pure_rooms import (
    ADA,
    BEN,
    CYD,
    HOST,
    ZOE,
    PureRoom,
    accepted,
    open_nonce,
    sealed_nonce,
)
from towerhall_protocol.errors import HINTS
from towerhall_server.game import Rejected
from towerhall_server.room import core
from towerhall_server.room.gate import GAME, RIGHTS, Role, key_hash, may_enter, refuse, roles
from towerhall_server.room.seats import ROOM_COMMANDS, Person
from towerhall_server.room.state import Status, Table

BOT_SEAT, LAST_SEAT = 2, 3
FIELDS = {"open": {"nonce": open_nonce(BEN)}, "remove_bot": {"seat": BOT_SEAT}}

# The roles are: watcher, seated, host with a seat, host without a seat.
TABLE = """
waiting sit         ok          already_seated already_seated ok
waiting stand       not_seated  ok             ok             not_seated
waiting ready       not_seated  ok             ok             not_seated
waiting open        not_seated  not_sealed     not_sealed     not_seated
waiting start       not_host    not_host       seats_free     seats_free
waiting add_bot     not_host    not_host       ok             ok
waiting remove_bot  not_host    not_host       ok             ok
waiting game        not_seated  not_playing    not_playing    not_seated

sealed  sit         not_waiting already_seated already_seated not_waiting
sealed  stand       not_seated  not_waiting    not_waiting    not_seated
sealed  ready       not_seated  not_waiting    not_waiting    not_seated
sealed  open        not_seated  ok             wrong_nonce    not_seated
sealed  start       not_host    not_host       not_waiting    not_waiting
sealed  add_bot     not_host    not_host       not_waiting    not_waiting
sealed  remove_bot  not_host    not_host       not_waiting    not_waiting
sealed  game        not_seated  not_playing    not_playing    not_seated

playing sit         not_waiting already_seated already_seated not_waiting
playing stand       not_seated  not_waiting    not_waiting    not_seated
playing ready       not_seated  not_waiting    not_waiting    not_seated
playing open        not_seated  not_sealed     not_sealed     not_seated
playing start       not_host    not_host       not_waiting    not_waiting
playing add_bot     not_host    not_host       not_waiting    not_waiting
playing remove_bot  not_host    not_host       not_waiting    not_waiting
playing game        not_seated  ok             ok             not_seated

over    sit         not_waiting already_seated already_seated not_waiting
over    stand       not_seated  not_waiting    not_waiting    not_seated
over    ready       not_seated  not_waiting    not_waiting    not_seated
over    open        not_seated  not_sealed     not_sealed     not_seated
over    start       not_host    not_host       not_waiting    not_waiting
over    add_bot     not_host    not_host       not_waiting    not_waiting
over    remove_bot  not_host    not_host       not_waiting    not_waiting
over    game        not_seated  not_playing    not_playing    not_seated
"""
CASES = [tuple(line.split()) for line in TABLE.splitlines() if line]
PEOPLE_BY_ROLE = {
    "watcher": (ZOE, True),
    "seated": (BEN, True),
    "host with a seat": (HOST, True),
    "host without a seat": (HOST, False),
}
"""Who has that role, and whether the host sits."""


@cache
def room_at(status: Status, host_sits: bool) -> PureRoom:
    """Two persons with nonces, a bot, and while it waits a free seat."""
    pure = PureRoom(seats=4)
    first = HOST if host_sits else CYD
    for person in (first, BEN):
        pure.say(person, "sit", nonce=sealed_nonce(person))
    pure.say(HOST, "add_bot", seat=BOT_SEAT)
    if status != "waiting":
        pure.say(HOST, "add_bot", seat=LAST_SEAT)
        pure.say(first, "ready")
        pure.say(BEN, "ready")
        pure.say(HOST, "start")
    if status in ("playing", "over"):
        for person in (first, BEN):
            pure.say(person, "open", nonce=open_nonce(person))
    if status == "over":
        pure.append(core.close_step(pure.room, "abandoned"))
    assert pure.room.table.status == status
    return pure


def outcome(pure: PureRoom, person: Person, command: str) -> str:
    if command == GAME:
        refusal = core.may_play(pure.room, person, pure.room.tag)
        return "ok" if refusal is None else refusal.code
    answer = pure.ask(person, {"command": command, **FIELDS.get(command, {})})
    return answer.code if isinstance(answer, Rejected) else "ok"


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case[:2]))
def test_every_role_is_let_through_or_refused(case: tuple[str, ...]) -> None:
    status, command, *expected = case
    stages: tuple[Status, ...] = get_args(Status)
    found = [
        outcome(room_at(stages[stages.index(status)], host_sits), person, command)  # type: ignore[arg-type]
        for person, host_sits in PEOPLE_BY_ROLE.values()
    ]
    assert found == expected


def test_the_table_is_about_every_command_at_every_stage() -> None:
    every = {(status, name) for status in get_args(Status) for name in (*ROOM_COMMANDS, GAME)}
    assert {case[:2] for case in CASES} == every
    assert len(CASES) == len(every)
    assert all(len(case) == 2 + len(PEOPLE_BY_ROLE) for case in CASES)
