"""Stores of several engines. A test that asks for `redis` or `log` runs on each kind of them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis, RedisCluster

from tests.sockets import HOST
from tests.store.engines import client
from tests.store.several import Group, behind_sentinels, cluster_of


class WholeCluster(RedisCluster):
    """A client for which all primaries are one store."""

    async def keys(self, pattern: Any = "*", **options: Any) -> Any:
        found: Any = await super().keys(pattern, target_nodes=RedisCluster.PRIMARIES)
        return (
            found if isinstance(found, list) else [key for keys in found.values() for key in keys]
        )


# Where other tests take all time of the machine, a primary may be silent for a second.
KINDS: Mapping[str, Callable[[str, Path], AbstractContextManager[Group]]] = {
    "sentinel": behind_sentinels,
    "cluster": partial(cluster_of, down_ms=2000),
}
STARTED = pytest.StashKey[dict[str, Group]]()


@pytest.fixture(scope="session", params=KINDS)
def group(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Group:
    """Engines that stand in for each other. They end with the session."""
    kind: str = request.param
    groups = request.config.stash.setdefault(STARTED, {})
    if kind not in groups:
        engines = ExitStack()
        request.config.add_cleanup(engines.close)
        groups[kind] = engines.enter_context(KINDS[kind]("redis", tmp_path_factory.mktemp(kind)))
    return groups[kind]


@pytest.fixture(scope="session")
def engine_url(group: Group) -> str:
    return group.url


@pytest.fixture
async def redis(group: Group) -> AsyncIterator[Any]:
    """A client on an empty store: of the primary, or of all primaries."""
    # After a failover an old primary may take itself for one for a while.
    made: Any = plain(group.elected) if group.others else whole_cluster(group.primaries[0].port)
    async with made as connected:
        await connected.flushall()
        yield connected


def whole_cluster(port: int) -> WholeCluster:
    return WholeCluster(host=HOST, port=port)


def plain(port: int) -> Redis:
    return client(f"redis://{HOST}:{port}")
