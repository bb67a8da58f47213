"""A real server, and beside all of it a game of others that has to go on undisturbed."""

import secrets
from collections.abc import Iterator

import pytest

from tests.end_to_end.bad_input.beside import GameBeside
from tests.end_to_end.raw import (
    new_guest,
    new_room,
)
from tests.end_to_end.servers import ServerProcess, running

KEY = secrets.token_urlsafe(32)
FRIENDLY_PAGE = "https://play.example.org"
HELLO_SECONDS = 0.6
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
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with the limits that it is delivered with, but for impatience with hello."""
    environ = {
        "TOWERHALL_LIMIT_HELLO_SECONDS": str(HELLO_SECONDS),
        "TOWERHALL_TOKEN_KEYS": KEY,
        "TOWERHALL_TOKEN_DAYS": "1",
    }
    folder = tmp_path_factory.mktemp("strict") / "data"
    with running(folder, "--origins", FRIENDLY_PAGE, limits=environ) as process:
        yield process
        assert not any(trace in process.log for trace in TRACES), process.log


@pytest.fixture(scope="module")
def token(shared: ServerProcess) -> str:
    return new_guest(shared.url, "Mallory")


@pytest.fixture(scope="module")
def code(shared: ServerProcess, token: str) -> str:
    """Of a room in which nothing happens, but for what these tests do."""
    return new_room(shared.url, token, seats=2)["code"]
