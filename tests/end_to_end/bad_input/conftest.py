"""A real server, and beside all of it a game of others that has to go on undisturbed."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.bad_input.beside import GameBeside
from tests.end_to_end.raw import (
    new_guest,
    new_room,
)
from tests.end_to_end.servers import ServerProcess

TRACES = ("Traceback", " ERROR ", " WARNING ")


@pytest.fixture(scope="module", autouse=True)
def game_beside(shared: ServerProcess) -> Iterator[None]:
    """Is played from the first of these tests to the last; everybody sees the same in the end."""
    with GameBeside(shared.url) as beside:
        yield
    assert beside.games >= 1


@pytest.fixture(autouse=True)
def calm_log(shared: ServerProcess) -> Iterator[None]:
    """Nothing that a client sends is worth a line in the log."""
    before = len(shared.log)
    yield
    assert not any(trace in shared.log[before:] for trace in TRACES), shared.log[before:]


@pytest.fixture(scope="module")
def token(shared: ServerProcess) -> str:
    return new_guest(shared.url, "Mallory")


@pytest.fixture(scope="module")
def code(shared: ServerProcess, token: str) -> str:
    """Of a room in which nothing happens, but for what these tests do."""
    return new_room(shared.url, token, seats=2)["code"]
