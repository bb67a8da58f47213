"""Real engines for tests: the bundled Valkey, and the Redis that the machine has installed.

Nothing here depends on the loop of a test: an engine may serve a whole session.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from towerhall_server.store.engine import EmbeddedEngine, bundled_binary, start_engine

KINDS = ("valkey", "redis")


def binary_of(kind: str) -> Path:
    """The program of an engine. A missing one is a failure: a skipped engine would go unnoticed."""
    if kind == "valkey":
        return bundled_binary()
    found = shutil.which("redis-server")
    if found is None:
        pytest.fail(
            "redis-server is missing: `make test` installs it, and so does"
            " `apt-get install --no-install-recommends redis-server`"
        )
    return Path(found)


@contextmanager
def running(kind: str, data_folder: Path) -> Iterator[EmbeddedEngine]:
    """An engine for code without a loop: it has one of its own, which rests meanwhile."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        engine = runner.run(start_engine(data_folder, binary=binary_of(kind)))
        try:
            yield engine
        finally:
            runner.run(engine.stop())


@asynccontextmanager
async def started(kind: str, data_folder: Path) -> AsyncIterator[str]:
    """An engine of one's own, to fill up, to change or to end."""
    engine = await start_engine(data_folder, binary=binary_of(kind))
    try:
        yield engine.url
    finally:
        await engine.stop()


def client(url: str) -> Redis:
    """A client that says at once what went wrong: nothing is retried, nothing hangs."""
    return Redis.from_url(
        url,
        decode_responses=False,
        socket_connect_timeout=5,
        socket_timeout=10,
        retry=Retry(NoBackoff(), 0),
    )
