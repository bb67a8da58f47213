"""P-50: what commands to the room may say, and what they must."""

from typing import Any

import pytest

from tests.room.pure_rooms import ADA, BEN, HOST, PureRoom
from towerhall_server.game import Rejected
from towerhall_server.room.core import ROOM_COMMANDS
from towerhall_server.room.parameters import NEEDED, POSSIBLE, wrong_parameters


def detail_of(body: dict[str, Any]) -> str:
    refusal = wrong_parameters(body)
    assert isinstance(refusal, Rejected)
    assert (refusal.code, refusal.rule) == ("bad_command", "P-50")
    return str(refusal.params["detail"])


def test_the_lists_name_commands_that_there_are() -> None:
    assert NEEDED.keys() | POSSIBLE.keys() <= ROOM_COMMANDS.keys()


@pytest.mark.parametrize("command", sorted(ROOM_COMMANDS))
def test_no_command_takes_what_it_does_not_have(command: str) -> None:
    needed = dict.fromkeys(NEEDED.get(command, ()), 0)
    assert wrong_parameters({"command": command, **needed}) is None
    assert detail_of({"command": command, **needed, "colour": "red"}) == f"{command} has no colour"


@pytest.mark.parametrize("command", sorted(NEEDED))
def test_what_is_needed_cannot_be_left_out(command: str) -> None:
    (name,) = NEEDED[command]
    assert detail_of({"command": command}) == f"{name} is missing"


@pytest.mark.parametrize("command", sorted(NEEDED.keys() | POSSIBLE.keys()))
def test_nothing_is_null(command: str) -> None:
    needed = dict.fromkeys(NEEDED.get(command, ()), 0)
    for name in NEEDED.get(command, frozenset()) | POSSIBLE.get(command, frozenset()):
        said = detail_of({"command": command, **needed, name: None})
        assert said == f"{name} is null: leave it out instead"


def test_a_long_name_is_not_sent_back_whole() -> None:
    assert len(detail_of({"command": "stand", "x" * 3000: 1})) < 100


def test_nothing_of_a_command_gets_into_the_log_unread() -> None:
    pure = PureRoom().seat_people(ADA, BEN, sealed=False)
    assert pure.refused(BEN, "ready", ready=False, ballast="x" * 3000) == "bad_command"
    assert pure.refused(HOST, "set_options", seats=3) == "bad_command"
    assert pure.say(BEN, "ready", ready=False).commit.command == {
        "command": "ready",
        "ready": False,
    }
