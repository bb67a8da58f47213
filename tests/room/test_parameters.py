"""P-50: what commands to the room may say, and what they must."""

from typing import Any

import msgspec
import pytest

from tests.room.pure_rooms import ADA, BEN, HOST, PureRoom
from towerhall_server.game import Rejected
from towerhall_server.room.commands import ROOM_COMMANDS
from towerhall_server.room.parameters import Parameters, read_parameters


def fields_of(command: str) -> dict[str, bool]:
    """Whether it is required, by the name of each parameter."""
    fields = msgspec.structs.fields(ROOM_COMMANDS[command].parameters)
    return {field.name: field.required for field in fields}


def needed(command: str) -> dict[str, object]:
    """Required parameters in a right form."""
    right = {"seat": 0, "nonce": "A" * 43, "id": "A" * 11}
    return {name: right[name] for name, required in fields_of(command).items() if required}


def read(body: dict[str, Any]) -> Parameters | Rejected:
    row = ROOM_COMMANDS[body["command"]]
    return read_parameters(row.parameters, body, row.clause)


def detail_of(body: dict[str, Any], clause: str = "P-50") -> str:
    refusal = read(body)
    assert isinstance(refusal, Rejected)
    assert (refusal.code, refusal.rule) == ("bad_command", clause)
    return str(refusal.params["detail"])


WITH_PARAMETERS = [name for name in ROOM_COMMANDS if fields_of(name)]


@pytest.mark.parametrize("command", tuple(ROOM_COMMANDS))
def test_no_command_takes_what_it_does_not_have(command: str) -> None:
    body = {"command": command, **needed(command)}
    assert isinstance(read(body), ROOM_COMMANDS[command].parameters)
    assert detail_of({**body, "colour": "red"}) == f"{command} has no colour"


@pytest.mark.parametrize("command", [name for name in ROOM_COMMANDS if needed(name)])
def test_what_is_needed_cannot_be_left_out(command: str) -> None:
    (name,) = needed(command)
    assert detail_of({"command": command}) == f"{name} is missing"


@pytest.mark.parametrize("command", WITH_PARAMETERS)
def test_null_is_as_if_the_parameter_was_left_out(command: str) -> None:
    for name in fields_of(command):
        whole = {"command": command, **needed(command)}
        left_out = {key: value for key, value in whole.items() if key != name}
        assert read({**whole, name: None}) == read(left_out)


FORMS = {
    "seat": ("a whole number", [True, "1", 1.0, [1], {}]),
    "ready": ("true or false", [0, 1, "yes", []]),
    "wanted": ("true or false", [0, 1, "yes", []]),
    "nonce": (
        "32 bytes as base64url",
        ["", "A" * 42, "A" * 44, "A" * 42 + "B", "A" * 43 + "\n", 7],
    ),
    "id": ("11 characters, as the room names people", ["", "A" * 10, "A" * 11 + "\n", "é" * 11, 7]),
    "whole id": ("8 bytes as base64url, as ids of people are", ["A" * 10, "A" * 10 + "B", 7]),
}
OF_THE_ROOM = {
    "level",
    "options",
    "turn_seconds",
    "bot_delay_ms",
    "beat_ms",
    "bot_accounts",
    "rated",
}
"""Parameters whose form depends on the game or is that of new rooms, too."""


@pytest.mark.parametrize("command", WITH_PARAMETERS)
def test_a_wrong_form_is_refused_by_the_clause_of_the_command(command: str) -> None:
    for name in fields_of(command).keys() - OF_THE_ROOM:
        form, wrong = FORMS["whole id" if (command, name) == ("invite", "id") else name]
        for value in wrong:
            body = {"command": command, **needed(command), name: value}
            assert detail_of(body, ROOM_COMMANDS[command].clause) == f"{name} is {form}"


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
