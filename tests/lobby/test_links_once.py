"""A link is used once, also if the store becomes an older copy that holds it as it was."""

from typing import Any

from redis.asyncio import Redis

from tests.eventlog.test_keepsakes import hearing, until
from towerhall_server.eventlog.single_use import USED, USED_MS, SingleUse
from towerhall_server.gateway.http import lobby_routes

LINK_MS = 60_000


async def test_a_used_link_stays_used_on_every_node(url: str, redis: Redis) -> None:
    async with hearing(url, "one") as one, hearing(url, "other") as other:
        here, there = SingleUse(one, "link"), SingleUse(other, "link")
        await here.keep("code", b"ann", LINK_MS)
        copy: Any = await redis.dump(here.key("code"))
        assert await here.take("code") == b"ann"
        assert 0 < await redis.pttl(here.key("code")) <= LINK_MS
        assert await there.take("code") is None
        await until(other, here.key("code"), USED)
        await redis.restore(here.key("code"), LINK_MS, copy, replace=True)
        assert await here.take("code") is None
        assert await there.take("code") is None
        assert await redis.get(here.key("code")) == b"ann", "the store itself would have given it"


async def test_a_node_that_never_heard_of_it_learns_it_from_the_store(
    url: str, redis: Redis
) -> None:
    async with hearing(url, "one") as one:
        here = SingleUse(one, "link")
        await here.keep("code", b"ann", LINK_MS)
        copy: Any = await redis.dump(here.key("code"))
        assert await here.take("code") == b"ann"
        await redis.restore(here.key("code"), LINK_MS, copy, replace=True)
        one.memory.doubt()
        assert one.memory._writing is not None
        await one.memory._writing
        async with hearing(url, "fresh") as fresh:
            assert await SingleUse(fresh, "link").take("code") is None


def test_nodes_remember_longer_than_a_link_holds() -> None:
    assert USED_MS > lobby_routes.LINK_MS
