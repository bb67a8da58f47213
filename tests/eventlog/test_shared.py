"""Constants that Python and Lua share have one home, and every script agrees with it."""

import re
from collections.abc import Iterator

from tests.test_doors import SERVER
from towerhall_server.access import revocations
from towerhall_server.eventlog import shared

CONSTANT = re.compile(r"^local ([A-Z][A-Z_]+) = ([0-9.]+|'[^']*')$", re.MULTILINE)
HOME = {name: value for name, value in vars(shared).items() if name.isupper()}


def declared() -> Iterator[tuple[str, str, str]]:
    """Each constant of each script: the script, the name and the value as Python writes it."""
    for path in sorted(SERVER.rglob("*.lua")):
        for name, value in CONSTANT.findall(path.read_text()):
            yield path.name, name, value


def test_each_constant_is_in_a_script() -> None:
    assert {name for _, name, _ in declared()} >= set(HOME)


def test_every_script_agrees_with_its_constants() -> None:
    shared_ones = [found for found in declared() if found[1] in HOME]
    assert [found for found in shared_ones if found[2] != repr(HOME[found[1]])] == []


def test_python_writes_each_constant_once() -> None:
    names = "|".join(HOME)
    assigned = re.compile(rf"^({names})(: Final)? = ", re.MULTILINE)
    homes = [path.name for path in SERVER.rglob("*.py") if assigned.search(path.read_text())]
    assert homes == ["shared.py"]


def test_revocations_of_keys_stay_by_the_beginning_of_their_names() -> None:
    (found,) = (value for _, name, value in declared() if name == "KEYS_STAY")
    assert found == f"'^{revocations.KEY}'"
