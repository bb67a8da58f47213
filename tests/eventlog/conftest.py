"""Engines and clients for storage tests. Whoever asks for `redis` runs on every kind of engine."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.eventlog.engines import KINDS, client, running


@pytest.fixture(scope="session", params=KINDS)
def engine_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Where an engine of each kind runs, one for the whole session of a worker."""
    kind: str = request.param
    with running(kind, tmp_path_factory.mktemp(kind)) as engine:
        yield engine.url


@pytest.fixture
async def redis(engine_url: str) -> AsyncIterator[Redis]:
    """A client on an empty database of each kind of engine."""
    async with client(engine_url) as connected:
        await connected.flushall()
        yield connected


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder that nobody else uses, and in which nothing may be left behind."""
    assert tmp_path.is_dir(), "it was made before, elsewhere, for its path is too long for sockets"
    folder = Path(tempfile.mkdtemp(prefix="th-"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    left = list(folder.iterdir())
    shutil.rmtree(folder)
    assert left == []
