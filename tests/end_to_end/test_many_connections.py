"""Very many connections that say nothing: others are served, and the server says that it lives."""

import contextlib
import resource
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.end_to_end.raw import SECONDS
from tests.end_to_end.servers import ServerProcess, running

HERE, THERE, ELSEWHERE = "127.0.0.1", "127.0.0.2", "127.0.0.3"
MANY = 1_100


class Narrow(ServerProcess):
    module = "tests.end_to_end.narrow_server"


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[ServerProcess]:
    with running(tmp_path / "data", limits={}, kind=Narrow) as server:
        yield server


@pytest.fixture(autouse=True)
def many_descriptors() -> Iterator[None]:
    """For the other ends of all these connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 10_000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def status(server: ServerProcess, method: str, path: str, source: str, body: str = "") -> int:
    """Of the answer to that address."""
    asked = HTTPConnection(urlsplit(server.url).netloc, timeout=SECONDS, source_address=(source, 0))
    with contextlib.closing(asked):
        asked.request(method, path, body or None, {"content-type": "application/json"})
        return asked.getresponse().status


def silent(server: ServerProcess, source: str, stack: contextlib.ExitStack) -> None:
    """Open many connections that say nothing. All stay open on this side."""
    for _ in range(MANY):
        held = stack.enter_context(contextlib.closing(socket.socket()))
        held.bind((source, 0))
        held.settimeout(SECONDS)
        held.connect(("127.0.0.1", server.port))


def test_many_connections_of_one_address_take_nothing_from_others(narrow: ServerProcess) -> None:
    with contextlib.ExitStack() as stack:
        silent(narrow, HERE, stack)
        assert status(narrow, "GET", "/healthz", THERE) == 200
        assert status(narrow, "GET", "/readyz", THERE) == 200
        assert status(narrow, "POST", "/v1/guests", THERE, '{"name": "Ada"}') == 201
        assert status(narrow, "GET", "/healthz", HERE) == 429
    assert "Traceback" not in narrow.log


def test_many_connections_of_several_addresses_leave_room_for_health_checks(
    narrow: ServerProcess,
) -> None:
    with contextlib.ExitStack() as stack:
        silent(narrow, HERE, stack)
        silent(narrow, ELSEWHERE, stack)
        assert status(narrow, "GET", "/healthz", THERE) == 200
        assert status(narrow, "GET", "/readyz", THERE) == 200
        assert status(narrow, "GET", "/v1/games", THERE) == 503
    assert "Traceback" not in narrow.log
