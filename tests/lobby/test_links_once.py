"""A link is used once, also if the store becomes an older copy that holds it as it was."""

from typing import Any

from redis.asyncio import Redis

from tests.eventlog.test_keepsakes import hearing, until
from towerhall_server.eventlog.lobby import USED, USED_MS, LobbyStore, _link
from towerhall_server.gateway.http import lobby_routes

LINK_MS = 60_000


async def copy_of(redis: Redis) -> Any:
    return await redis.dump(_link("code"))


async def go_back(redis: Redis, copy: Any) -> None:
    await redis.restore(_link("code"), LINK_MS, copy, replace=True)


async def test_a_used_link_stays_used_on_every_node(url: str, redis: Redis) -> None:
    async with hearing(url, "one") as one, hearing(url, "other") as other:
        here, there = LobbyStore(one), LobbyStore(other)
        await here.keep_link("code", b"ann", LINK_MS)
        copy = await copy_of(redis)
        assert await here.take_link("code") == b"ann"
        assert 0 < await redis.pttl(_link("code")) <= LINK_MS
        assert await there.take_link("code") is None
        await until(other, _link("code"), USED)
        await go_back(redis, copy)
        assert await here.take_link("code") is None
        assert await there.take_link("code") is None
        assert await redis.get(_link("code")) == b"ann", "the store itself would have given it"


async def test_a_node_that_never_heard_of_it_learns_it_from_the_store(
    url: str, redis: Redis
) -> None:
    async with hearing(url, "one") as one:
        here = LobbyStore(one)
        await here.keep_link("code", b"ann", LINK_MS)
        copy = await copy_of(redis)
        assert await here.take_link("code") == b"ann"
        await go_back(redis, copy)
        one.memory.doubt()
        assert one.memory._writing is not None
        await one.memory._writing
        async with hearing(url, "fresh") as fresh:
            assert await LobbyStore(fresh).take_link("code") is None


def test_nodes_remember_longer_than_a_link_holds() -> None:
    assert USED_MS > lobby_routes.LINK_MS
