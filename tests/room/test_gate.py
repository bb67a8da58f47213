"""Who may do what (P-56): every command by everybody at every stage of a room."""

from functools import cache
from typing import get_args

import msgspec
import pytest

from tests.room.pure_rooms import (
    BEN,
    CYD,
    HOST,
    ZOE,
    PureRoom,
    open_nonce,
    sealed_nonce,
)
from towerhall_protocol import commands
from towerhall_protocol.errors import HINTS
from towerhall_server.game import BAD_COMMAND, Rejected
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.commands import ROOM_COMMANDS
from towerhall_server.room.decision import roles
from towerhall_server.room.gate import key_hash, may_enter
from towerhall_server.room.seats import Person
from towerhall_server.room.table import Status

OTHER_SEAT, BOT_SEAT, LAST_SEAT = 1, 2, 3
KICKED_ID, MUTED_ID, GUEST_ID = "kickedAAAAA", "mutedAAAAAA", "guestAAAAAA"
"""A watcher who was sent away from a seat, and one who was silenced."""
FIELDS: dict[str, dict[str, object]] = {
    "open": {"nonce": open_nonce(BEN)},
    "remove_bot": {"seat": BOT_SEAT},
    "kick": {"seat": OTHER_SEAT},
    "admit": {"id": KICKED_ID},
    "invite": {"id": GUEST_ID},
    "mute": {"seat": OTHER_SEAT},
    "unmute": {"id": MUTED_ID},
    "call_bot": {"seat": BOT_SEAT},
}

# The roles are: watcher, seated, host with a seat, host without a seat.
TABLE = """
waiting sit         ok          already_seated already_seated ok
waiting stand       not_seated  ok             ok             not_seated
waiting rename      not_seated  ok             ok             not_seated
waiting ready       not_seated  ok             ok             not_seated
waiting open        not_seated  not_sealed     not_sealed     not_seated
waiting start       not_host    not_host       seats_free     seats_free
waiting add_bot     not_host    not_host       ok             ok
waiting remove_bot  not_host    not_host       ok             ok
waiting kick        not_host    not_host       ok             ok
waiting set_options not_host    not_host       ok             ok
waiting mute        not_host    not_host       ok             ok
waiting unmute      not_host    not_host       ok             ok
waiting admit       not_host    not_host       ok             ok
waiting invite      not_host    not_host       ok             ok
waiting leave       not_seated  not_playing    not_playing    not_seated
waiting take_back   not_seated  not_playing    not_playing    not_seated
waiting call_bot    not_seated  not_playing    not_playing    not_seated
waiting resign      not_seated  not_playing    not_playing    not_seated
waiting want_end    not_seated  not_playing    not_playing    not_seated
waiting rematch     not_seated  not_over       not_over       not_seated
waiting game        not_seated  not_playing    not_playing    not_seated

sealed  sit         not_waiting already_seated already_seated not_waiting
sealed  stand       not_seated  not_waiting    not_waiting    not_seated
sealed  rename      not_seated  ok             ok             not_seated
sealed  ready       not_seated  not_waiting    not_waiting    not_seated
sealed  open        not_seated  ok             wrong_nonce    not_seated
sealed  start       not_host    not_host       not_waiting    not_waiting
sealed  add_bot     not_host    not_host       not_waiting    not_waiting
sealed  remove_bot  not_host    not_host       not_waiting    not_waiting
sealed  kick        not_host    not_host       not_waiting    not_waiting
sealed  set_options not_host    not_host       not_waiting    not_waiting
sealed  mute        not_host    not_host       ok             ok
sealed  unmute      not_host    not_host       ok             ok
sealed  admit       not_host    not_host       ok             ok
sealed  invite      not_host    not_host       not_waiting    not_waiting
sealed  leave       not_seated  not_playing    not_playing    not_seated
sealed  take_back   not_seated  not_playing    not_playing    not_seated
sealed  call_bot    not_seated  not_playing    not_playing    not_seated
sealed  resign      not_seated  not_playing    not_playing    not_seated
sealed  want_end    not_seated  not_playing    not_playing    not_seated
sealed  rematch     not_seated  not_over       not_over       not_seated
sealed  game        not_seated  not_playing    not_playing    not_seated

playing sit         not_waiting already_seated already_seated not_waiting
playing stand       not_seated  not_waiting    not_waiting    not_seated
playing rename      not_seated  ok             ok             not_seated
playing ready       not_seated  not_waiting    not_waiting    not_seated
playing open        not_seated  not_sealed     not_sealed     not_seated
playing start       not_host    not_host       not_waiting    not_waiting
playing add_bot     not_host    not_host       not_waiting    not_waiting
playing remove_bot  not_host    not_host       not_waiting    not_waiting
playing kick        not_host    not_host       not_waiting    not_waiting
playing set_options not_host    not_host       not_waiting    not_waiting
playing mute        not_host    not_host       ok             ok
playing unmute      not_host    not_host       ok             ok
playing admit       not_host    not_host       ok             ok
playing invite      not_host    not_host       not_waiting    not_waiting
playing leave       not_seated  ok             ok             not_seated
playing take_back   not_seated  no_bot_plays   no_bot_plays   not_seated
playing call_bot    not_seated  bot_plays      bot_plays      not_seated
playing resign      not_seated  ok             ok             not_seated
playing want_end    not_seated  ok             ok             not_seated
playing rematch     not_seated  not_over       not_over       not_seated
playing game        not_seated  ok             ok             not_seated

over    sit         not_waiting already_seated already_seated not_waiting
over    stand       not_seated  not_waiting    not_waiting    not_seated
over    rename      not_seated  ok             ok             not_seated
over    ready       not_seated  not_waiting    not_waiting    not_seated
over    open        not_seated  not_sealed     not_sealed     not_seated
over    start       not_host    not_host       not_waiting    not_waiting
over    add_bot     not_host    not_host       not_waiting    not_waiting
over    remove_bot  not_host    not_host       not_waiting    not_waiting
over    kick        not_host    not_host       not_waiting    not_waiting
over    set_options not_host    not_host       not_waiting    not_waiting
over    mute        not_host    not_host       ok             ok
over    unmute      not_host    not_host       ok             ok
over    admit       not_host    not_host       ok             ok
over    invite      not_host    not_host       not_waiting    not_waiting
over    leave       not_seated  not_playing    not_playing    not_seated
over    take_back   not_seated  not_playing    not_playing    not_seated
over    call_bot    not_seated  not_playing    not_playing    not_seated
over    resign      not_seated  not_playing    not_playing    not_seated
over    want_end    not_seated  not_playing    not_playing    not_seated
over    rematch     not_seated  ok             ok             not_seated
over    game        not_seated  not_playing    not_playing    not_seated
"""
CASES = [tuple(line.split()) for line in TABLE.splitlines() if line]
WHO = ((ZOE, True), (BEN, True), (HOST, True), (HOST, False))
"""Who has that role, and whether the host sits."""


@cache
def room_at(status: str, host_sits: bool) -> PureRoom:
    """Two persons with nonces, a bot, and while it waits a free seat."""
    pure = PureRoom(seats=4, aliased=True)
    first = HOST if host_sits else CYD
    pure.say(Person(KICKED_ID, "Eve"), "sit")
    pure.say(HOST, "kick", seat=0)
    pure.say(HOST, "mute", id=MUTED_ID)
    for person in (first, BEN):
        pure.say(person, "sit", nonce=sealed_nonce(person))
    pure.say(HOST, "add_bot", seat=BOT_SEAT)
    if status != "waiting":
        pure.say(HOST, "add_bot", seat=LAST_SEAT)
        for person in (first, BEN):
            pure.say(person, "ready")
        pure.say(HOST, "start")
    if status in ("playing", "over"):
        for person in (first, BEN):
            pure.say(person, "open", nonce=open_nonce(person))
    if status == "over":
        pure.append(abandon_step(pure.room))
    assert pure.room.table.status == status
    return pure


def outcome(pure: PureRoom, person: Person, command: str) -> str:
    if command == "game":
        refusal = pure.ask(person, {"command": "no such thing"}, pure.room.tag)
        assert isinstance(refusal, Rejected)
        # The gate is behind whoever is refused by the game itself.
        return "ok" if refusal.code == BAD_COMMAND else refusal.code
    if command == "rename":
        person = Person(person.id, f"{person.name} the other")
    answer = pure.ask(person, {"command": command, **FIELDS.get(command, {})})
    return answer.code if isinstance(answer, Rejected) else "ok"


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case[:2]))
def test_every_role_is_let_through_or_refused(case: tuple[str, ...]) -> None:
    status, command, *expected = case
    found = [outcome(room_at(status, host_sits), person, command) for person, host_sits in WHO]
    assert found == expected


def test_the_table_is_about_every_command_at_every_stage() -> None:
    every = {(status, name) for status in get_args(Status) for name in (*ROOM_COMMANDS, "game")}
    assert {case[:2] for case in CASES} == every
    assert len(CASES) == len(every)


def test_the_table_of_commands_is_the_list_of_the_protocol() -> None:
    assert set(ROOM_COMMANDS) == set(commands.ROOM_COMMANDS)


@pytest.mark.parametrize("person", [ZOE, BEN, HOST])
@pytest.mark.parametrize("name", ["", "nonsense", "Sit", "sit ", "ban", "host", "x" * 500])
@pytest.mark.parametrize("status", get_args(Status))
def test_a_name_without_a_row_is_a_command_of_the_game(
    person: Person, name: str, status: str
) -> None:
    pure = room_at(status, True)
    answer = pure.ask(person, {"command": name}, pure.room.tag)
    assert isinstance(answer, Rejected)
    if status == "playing" and person is not ZOE:
        assert answer.code == BAD_COMMAND
    else:
        assert answer.code == ("not_seated" if person is ZOE else "not_playing")


def test_refusals_cite_the_protocol_and_have_hints() -> None:
    for status in get_args(Status):
        for person, host_sits in WHO:
            pure = room_at(status, host_sits)
            for command in ROOM_COMMANDS:
                answer = pure.ask(person, {"command": command, **FIELDS.get(command, {})})
                if isinstance(answer, Rejected):
                    assert answer.code in HINTS
                    assert answer.rule.startswith("P-")


def test_a_host_has_a_second_role_beside_it() -> None:
    table = room_at("waiting", True).room.table
    assert roles(table, HOST.id) == {"host", "seated"}
    assert roles(table, BEN.id) == {"seated"}
    assert roles(table, ZOE.id) == {"watcher"}
    assert roles(room_at("waiting", False).room.table, HOST.id) == {"host", "watcher"}


@pytest.mark.parametrize("status", get_args(Status))
def test_nobody_has_the_seat_of_a_bot(status: str) -> None:
    """A connection that is over has no identity; bots have none either."""
    table = room_at(status, True).room.table
    assert table.seated.get("") is None
    assert roles(table, "") == {"watcher"}


def test_whoever_took_the_seat_last_is_judged_by_the_newest_state() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit", seat=0)
    pure.say(BEN, "stand")
    pure.say(ZOE, "sit", seat=0)
    assert pure.refused(BEN, "ready") == "not_seated"
    assert pure.refused(ZOE, "sit", seat=1) == "already_seated"


def test_a_message_cannot_claim_a_seat_or_a_role() -> None:
    pure = PureRoom().seat_people(HOST, BEN, sealed=False)
    claims = {"seat": 0, "identity": HOST.id, "host": HOST.id, "role": "host"}
    assert pure.refused(ZOE, "start", **claims) == "not_host"
    assert pure.refused(ZOE, "ready", **claims) == "not_seated"
    assert pure.refused(BEN, "stand", **claims) == "bad_command"
    assert pure.refused(BEN, "stand", seat=0) == "bad_command"
    pure.say(BEN, "stand")
    assert pure.room.table.seated.get(HOST.id) == 0
    assert pure.room.table.seated.get(BEN.id) is None


def test_a_private_room_opens_by_its_key_alone() -> None:
    table = msgspec.structs.replace(PureRoom().room.table, key_hash=key_hash("sesame"))
    assert may_enter(table, "sesame")
    for wrong in ("", "Sesame", "sesame ", "\ud800", key_hash("sesame").hex()):
        assert not may_enter(table, wrong)


def test_a_public_room_needs_no_key() -> None:
    table = msgspec.structs.replace(PureRoom().room.table, key_hash=b"")
    assert may_enter(table, "")
    assert may_enter(table, "any")
