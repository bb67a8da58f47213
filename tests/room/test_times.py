"""When a command makes sense: one status for each, and the same refusal at all others."""

import re
from pathlib import Path
from typing import get_args

import pytest

from tests.room.pure_rooms import BEN, HOST, ZOE
from tests.room.test_gate import FIELDS, room_at
from towerhall_server.game import Rejected
from towerhall_server.room.gate import GAME, RIGHTS, TIMES, refuse
from towerhall_server.room.seats import Person
from towerhall_server.room.table import Status

SPEC = (Path(__file__).parents[2] / "protocol" / "SPEC.md").read_text()
STATUSES: tuple[Status, ...] = get_args(Status)


def somebody(command: str) -> Person:
    """Who has the right to it."""
    (role,) = RIGHTS[command]
    return {"watcher": ZOE, "seated": BEN, "host": HOST}[role]


def clause(number: str) -> str:
    found = re.search(rf"^### {number} .*?(?=^##)", SPEC, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


def test_every_command_has_its_time() -> None:
    assert TIMES.keys() == RIGHTS.keys()


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("command", TIMES)
def test_at_any_other_time_a_command_is_refused_by_its_clause(command: str, status: Status) -> None:
    pure, when = room_at(status, True), TIMES[command]
    expected = None if status == when.status else Rejected(f"not_{when.status}", when.clause)
    assert refuse(pure.room.table, somebody(command).id, command) == expected
    if expected is not None:
        # Whatever else may be wrong with it: that it is not the time is what is told.
        name = "bid" if command == GAME else command
        body = {"command": name, **FIELDS.get(command, {}), "seat": "nonsense", "level": []}
        assert pure.ask(somebody(command), body, "another tag") == expected


@pytest.mark.parametrize("command", TIMES)
def test_the_specification_says_when(command: str) -> None:
    when = TIMES[command]
    text = clause(when.clause)
    assert f"`{when.status}`" in text
    assert command == GAME or f'"command": "{command}"' in text
