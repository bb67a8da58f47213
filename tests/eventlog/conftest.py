"""Engines and clients for storage tests. Who asks for `redis` or `log` runs on every engine."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import uvloop
from redis.asyncio import Redis

from tests.proxy.store import Proxy
from tests.store.engines import KINDS, client, running
from towerhall_server.eventlog.log import EventLog

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
ON_BOTH_LOOPS = {"test_notifications.py", "test_wire.py"}


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What is about sockets runs on the server's loop and on asyncio's own."""
    return LOOPS if item.path.name in ON_BOTH_LOOPS else {"asyncio": LOOPS["asyncio"]}


STARTED = pytest.StashKey[dict[str, str]]()


@pytest.fixture(scope="session", params=KINDS)
def engine_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where an engine of each kind runs, one of each for all folders that a worker tests.

    They end with the session, not with this fixture: of its two values pytest keeps only one, and
    files that use both would start engines over and over.
    """
    kind: str = request.param
    urls = request.config.stash.setdefault(STARTED, {})
    if kind not in urls:
        engine = ExitStack()
        urls[kind] = engine.enter_context(running(kind, tmp_path_factory.mktemp(kind))).url
        request.config.add_cleanup(engine.close)
    return urls[kind]


@pytest.fixture
async def redis(engine_url: str) -> AsyncIterator[Redis]:
    """A client on an empty database of each kind of engine."""
    async with client(engine_url) as connected:
        await connected.flushall()
        yield connected


@pytest.fixture
async def log(engine_url: str, redis: Redis) -> AsyncIterator[EventLog]:
    """All logs of each kind of engine, of which there are none yet."""
    async with EventLog(engine_url) as opened:
        yield opened


@pytest.fixture
async def proxy(engine_url: str) -> AsyncIterator[Proxy]:
    """A way to each kind of engine on which tests may have accidents happen."""
    with TemporaryDirectory() as folder:
        async with Proxy(engine_url, Path(folder) / "s").running() as started:
            yield started


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
