"""What is required of a store, and a client that repeats nothing by itself."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import ResponseError

from tests.proxy.store import Proxy
from towerhall_server.store.check import UnfitStoreError, check_store, connect
from towerhall_server.store.durability import ASKED
from towerhall_server.store.startup import examine


class Described:
    """A store that says of itself what a test wants to hear."""

    def __init__(self, told: Any = None, **server: str) -> None:
        self.server = server
        self.told = {"maxmemory-policy": "noeviction"} if told is None else told

    async def info(self, section: str) -> dict[str, str]:
        return self.server

    async def config_get(self, *names: str) -> dict[str, Any]:
        if isinstance(self.told, Exception):
            raise self.told
        return {name: value for name, value in self.told.items() if name in names}


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
    with pytest.raises(UnfitStoreError, match=r"must be one of: redis >= 7\.0, valkey >= 8\.0"):
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


async def set_of(redis: Redis, **settings: str) -> None:
    for name, value in settings.items():
        await redis.config_set(name, value)


@pytest.fixture
async def changeable(redis: Redis) -> AsyncIterator[Redis]:
    """An engine with the settings of an embedded one, which a test may change."""
    yield redis
    await set_of(redis, appendonly="yes", appendfsync="always")


async def test_a_durable_store_is_fit_where_that_is_required(redis: Redis) -> None:
    assert await check_store(redis, durable=True)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"appendonly": "no"}, "has appendonly no: set appendonly yes"),
        ({"appendfsync": "everysec"}, "has appendfsync everysec: set appendfsync always"),
        ({"appendfsync": "no"}, "has appendfsync no: set appendfsync always"),
        (
            {"appendonly": "no", "appendfsync": "everysec"},
            "has appendonly no and appendfsync everysec: set appendonly yes and appendfsync always",
        ),
    ],
)
async def test_another_one_is_fit_only_where_it_is_not(
    changeable: Redis, settings: dict[str, str], says: str
) -> None:
    await set_of(changeable, **settings)
    assert await check_store(changeable)
    with pytest.raises(UnfitStoreError) as refused:
        await check_store(changeable, durable=True)
    assert says in str(refused.value)
    assert "--require-durable" in str(refused.value)


@pytest.mark.parametrize(
    "told",
    [
        ResponseError("unknown command CONFIG"),
        {},
        {"maxmemory-policy": "noeviction"},
        {"appendonly": "yes"},
        {"appendfsync": "always"},
    ],
)
async def test_what_is_not_told_is_not_taken_for_durable(told: object) -> None:
    hosted = Described(told, redis_version="7.4.0")
    assert await check_store(hosted) == "redis 7.4.0"  # type: ignore[arg-type]
    with pytest.raises(UnfitStoreError, match=r"hides .*\+config\|get"):
        await check_store(hosted, durable=True)  # type: ignore[arg-type]


async def test_each_promise_is_a_line_of_the_log(
    changeable: Redis, engine_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        await examine(engine_url)
        assert [name.partition(" is ")[0] for name in promised(caplog)] == list(ASKED)
        assert "appendfsync is always" in caplog.text
        caplog.clear()
        await set_of(changeable, appendfsync="everysec")
        await examine(engine_url)
        (fsync,) = [each for each in caplog.records if "appendfsync" in each.message]
        assert fsync.levelname == "WARNING"
        assert "last two seconds" in fsync.message


async def test_a_user_without_config_is_told_what_to_grant(
    redis: Redis, engine_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    for rights in ("+@all -@dangerous +info", "+@all -config +config|set"):
        given = ["reset", "on", ">pw", "~*", "&*", *rights.split()]
        await acl(redis, "SETUSER", "poor", *given)
        caplog.clear()
        poor = engine_url.replace("://", "://poor:pw@")
        with caplog.at_level(logging.INFO):
            assert await examine(poor)
        (line,) = promised(caplog)
        assert "is unknown" in line
        assert "+config|get" in line
        with pytest.raises(UnfitStoreError, match=r"\+config\|get"):
            await examine(poor, durable=True)
    await acl(redis, "DELUSER", "poor")


async def acl(redis: Redis, *command: str) -> None:
    await redis.execute_command("ACL", *command)  # type: ignore[no-untyped-call]


def promised(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.message.removeprefix("the store: ") for each in caplog.records]


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
