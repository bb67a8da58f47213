"""A server process for each test that wants one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.servers import ServerProcess, running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with running(tmp_path / "data") as process:
        yield process
