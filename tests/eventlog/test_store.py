"""What is required of a store, and a client that repeats nothing by itself."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import ResponseError

from tests.eventlog.proxy import Proxy
from towerhall_server.eventlog.store import UnfitStoreError, check_store, connect


class Described:
    """A store that says of itself what a test wants to hear."""

    def __init__(self, policy: object = "noeviction", **server: str) -> None:
        self.server = server
        self.policy = policy

    async def info(self, section: str) -> dict[str, str]:
        return self.server

    async def config_get(self, name: str) -> dict[str, Any]:
        if isinstance(self.policy, Exception):
            raise self.policy
        return {name: self.policy}


async def test_both_engines_are_fit(redis: Redis) -> None:
    name, version = (await check_store(redis)).split()
    assert name in ("redis", "valkey")
    assert version[0].isdecimal()


@pytest.mark.parametrize(
    "server",
    [
        {"redis_version": "6.2.14"},
        {"server_name": "valkey", "redis_version": "7.2.4", "valkey_version": "7.2.9"},
        {"server_name": "other", "other_version": "9.9.9"},
    ],
)
async def test_an_old_or_strange_engine_is_refused(server: dict[str, str]) -> None:
    with pytest.raises(UnfitStoreError, match=r"is needed: redis >= 7\.0, valkey >= 8\.0"):
        await check_store(Described(**server))  # type: ignore[arg-type]


async def test_a_store_that_evicts_is_refused(redis: Redis) -> None:
    await redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(UnfitStoreError, match="Set it to noeviction"):
            await check_store(redis)
    finally:
        await redis.config_set("maxmemory-policy", "noeviction")


async def test_a_hosted_store_that_hides_its_settings_is_believed() -> None:
    hosted = Described(ResponseError("unknown command CONFIG"), redis_version="7.4.0")
    assert await check_store(hosted) == "redis 7.4.0"  # type: ignore[arg-type]


async def test_a_command_whose_reply_was_lost_is_not_sent_again(
    engine_url: str, redis: Redis
) -> None:
    with TemporaryDirectory() as folder:
        shaky = Proxy(engine_url, Path(folder) / "s")
        async with shaky.running() as proxy, connect(proxy.url) as client:
            await client.ping()
            proxy.lose_share = 1.0
            with pytest.raises(ConnectionLost):
                await client.incr("counter")
    assert await redis.get("counter") == b"1"
