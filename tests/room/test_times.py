"""When a command makes sense: one status for each, and the same refusal at all others."""

import re
from pathlib import Path
from typing import get_args

import pytest

from tests.room.pure_rooms import BEN, HOST, ZOE
from tests.room.test_gate import FIELDS, room_at
from towerhall_server.game import Rejected
from towerhall_server.room.commands import GAME, ROOM_COMMANDS, Right
from towerhall_server.room.decision import refuse
from towerhall_server.room.seats import Person
from towerhall_server.room.table import Status

SPEC = (Path(__file__).parents[2] / "protocol" / "SPEC.md").read_text()
STATUSES: tuple[Status, ...] = get_args(Status)
RIGHTS: dict[str, Right] = {**ROOM_COMMANDS, "game": GAME}


def holder_of(right: Right) -> Person:
    return {"watcher": ZOE, "seated": BEN, "host": HOST}[right.role]


def clause(number: str) -> str:
    found = re.search(rf"^### {number} .*?(?=^##)", SPEC, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("command", tuple(RIGHTS))
def test_at_any_other_time_a_command_is_refused_by_its_clause(command: str, status: Status) -> None:
    pure, when = room_at(status, True), RIGHTS[command]
    expected = (
        None if when.status in (None, status) else Rejected(f"not_{when.status}", when.clause)
    )
    assert refuse(pure.room.table, holder_of(when).id, when) == expected
    if expected is not None:
        # Whatever else may be wrong with it: that it is not the time is what is told.
        name = "bid" if command == "game" else command
        body = {"command": name, **FIELDS.get(command, {}), "seat": "nonsense", "level": []}
        assert pure.ask(holder_of(when), body, "another tag") == expected


@pytest.mark.parametrize("command", tuple(RIGHTS))
def test_the_specification_says_when(command: str) -> None:
    when = RIGHTS[command]
    text = clause(when.clause)
    said = "at any time" if when.status is None else f"`{when.status}`"
    assert said in text
    assert command == "game" or f'"command": "{command}"' in text
