"""Sandbox rooms: fast clocks, no rate of changes, entropy that plays again, and marks (P-190)."""

from typing import Any

import pytest

from tests.room.pure_rooms import ADA, BEN, CODE, HOST, KEY_HASH, PureRoom
from towerhall_protocol.fairness import commitment
from towerhall_protocol.messages import ClientSandbox
from towerhall_protocol.statements import Signature
from towerhall_server.game import Rejected
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.fan_out import chain_of
from towerhall_server.room import decision, pace, steps
from towerhall_server.room.debts import dropped_of, opened_of
from towerhall_server.room.events import Settings
from towerhall_server.room.rematch import rematch_plan
from towerhall_server.room.sandbox import fault_of, uid_of
from towerhall_server.room.seats import SETTINGS, read_settings
from towerhall_server.room.state import create, seed_of
from towerhall_server.room.steps import Plan
from towerhall_server.room.view import describe, view

ENTROPY = bytes(range(32))
SIGNED = Signature("key", "signature")


def playing(sandbox: int = 0, turn_seconds: int = 0) -> PureRoom:
    pure = PureRoom(turn_seconds=turn_seconds, sandbox=sandbox)
    return pure.seat_people(ADA, sealed=False).deal()


@pytest.mark.parametrize(("speed", "bot_ms", "turn_ms"), [(0, 600, 60_000), (7, 85, 8571)])
def test_waits_of_the_game_end_as_many_times_as_fast(speed: int, bot_ms: int, turn_ms: int) -> None:
    pure = playing(speed, turn_seconds=60)
    if steps.bot_to_act(pure.room) is None:
        assert steps.due(pure.room).ms == turn_ms
        due: Any = view(pure.room, "all")["clock"]
        assert due == {"due": pure.room.began_ms + turn_ms}
        pure.play_on(1)
    while steps.bot_to_act(pure.room) is None:
        pure.play_on(1)
    assert steps.due(pure.room).ms == bot_ms


def test_the_time_for_nonces_is_short_and_the_room_is_not_removed_early() -> None:
    pure, ordinary = PureRoom(sandbox=100), PureRoom()
    assert steps.due(pure.room) == steps.due(ordinary.room)
    pure.seat_people(ADA, BEN).say(HOST, "start")
    assert steps.due(pure.room).ms == 100
    assert pure.wait().after.table.status == "waiting"


def test_changes_have_no_rate_there() -> None:
    for speed, is_free in ((0, False), (1, True)):
        pure = PureRoom(sandbox=speed)
        pure.say(BEN, "sit")
        for number in range(pace.MOST_AT_ONCE + 1):
            step = pure.say(BEN, "ready", ready=number % 2 == 0)
        before = pure.rooms[-2]
        assert (decision.not_before_ms(before, step) <= 0) == is_free


def test_the_same_entropy_makes_the_same_seed_and_another_one_another() -> None:
    def seed(entropy: bytes, host: str) -> bytes:
        plan = Plan(
            FIVE_TOWERS, FIVE_TOWERS.presets["standard"], 2, Settings(sandbox=1), host, KEY_HASH
        )
        found = steps.found(plan, CODE, uid_of(entropy), entropy + b"salt")
        created: Any = found.commit.room[0]
        assert created.commitment == commitment(uid_of(entropy), entropy)
        return seed_of(create(FIVE_TOWERS, entropy, created), 1)

    assert seed(ENTROPY, ADA.id) == seed(ENTROPY, BEN.id)
    assert seed(ENTROPY, ADA.id) != seed(ENTROPY[::-1], ADA.id)


def test_the_room_says_what_it_is_in_its_view_and_in_lists_and_stays_so() -> None:
    pure = PureRoom(sandbox=5)
    pure.say(HOST, "set_options", turn_seconds=60)
    shown: Any = view(pure.room, "all")["room"]
    assert shown["sandbox"] == describe(pure.room.table)["sandbox"] == 5
    assert pure.refused(HOST, "set_options", sandbox=0) == "bad_command"
    assert rematch_plan(pure.room, HOST.id, {}).settings.sandbox == 5
    ordinary: Any = view(PureRoom().room, "all")["room"]
    assert "sandbox" not in ordinary


def test_no_request_makes_a_sandbox_room_by_its_settings() -> None:
    assert {*SETTINGS, "sandbox"} == set(Settings.__struct_fields__)
    assert "sandbox" not in SETTINGS
    made = read_settings({name: getattr(Settings(), name) for name in SETTINGS})
    assert not isinstance(made, Rejected)
    assert made.sandbox == 0


def test_nothing_is_signed_about_it_and_the_public_log_gets_nothing() -> None:
    for speed in (0, 1):
        table = PureRoom(sandbox=speed).room.table
        told = chain_of(table, 1, bytes(32), lambda _: SIGNED)
        assert (told.key, told.signature) == (("", "") if speed else SIGNED)
        assert bool(opened_of(table)) == bool(dropped_of(table)) == (not speed)


@pytest.mark.parametrize(
    ("act", "number", "is_right"),
    [
        ("drop", 0, True),
        ("drop", 1, False),
        ("pause", 1, True),
        ("pause", 60_000, True),
        ("pause", 0, False),
        ("pause", 60_001, False),
        ("lose", 1, True),
        ("lose", 0, False),
        ("lose", -1, False),
        ("lose", 1001, False),
        ("dance", 0, False),
    ],
)
def test_what_may_be_asked_for(act: str, number: int, is_right: bool) -> None:
    assert (fault_of(ClientSandbox(act, number)) == "") == is_right
