"""Server processes: one to be shared, and one for whoever wants to harm it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.servers import ServerProcess, running


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that nobody harms."""
    with running(tmp_path_factory.mktemp("shared") / "data") as process:
        yield process


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server of one's own."""
    with running(tmp_path / "data") as process:
        yield process
