"""An answer that is given once, also if the store becomes an older copy of itself."""

import msgspec
from redis.asyncio import Redis

from tests.eventlog.test_keepsakes import hearing, until
from towerhall_server.eventlog.operators import LobbyPerson, OperatorStore, _once_key, _person_key

MARK = b"mark"


async def test_an_answer_that_the_store_has_lost_is_given_again_by_every_node(
    url: str, redis: Redis
) -> None:
    async with hearing(url, "one") as one, hearing(url, "other") as other:
        here, there = OperatorStore(one), OperatorStore(other)
        assert await here.begin("acme", "order 1", MARK, 60_000) is None
        await here.finish("acme", "order 1", b"mark and answer")
        await until(other, _once_key("acme", "order 1"), b"mark and answer")
        await redis.flushall()
        for store in (here, there):
            assert await store.begin("acme", "order 1", MARK, 60_000) == b"mark and answer"
            assert await store.begin("other", "order 1", MARK, 60_000) in (None, MARK)


async def test_accounts_are_known_though_the_store_has_lost_them(url: str, redis: Redis) -> None:
    async with hearing(url, "one") as one, hearing(url, "other") as other:
        ada = LobbyPerson("account 1", "Ada")
        await OperatorStore(one).remember("acme", {"identity-1": ada})
        key = _person_key("acme", "identity-1")
        await until(other, key, msgspec.json.encode(ada))
        await redis.flushall()
        for log in (one, other):
            assert await OperatorStore(log).people("acme", ["identity-1"]) == {"identity-1": ada}


async def test_a_node_that_never_heard_of_it_learns_it_from_the_store(
    url: str, redis: Redis
) -> None:
    async with hearing(url, "one") as one:
        here = OperatorStore(one)
        await here.begin("acme", "order 1", MARK, 60_000)
        await here.finish("acme", "order 1", b"mark and answer")
        await here.remember("acme", {"identity-1": LobbyPerson("account 1", "Ada")})
        await redis.flushall()
        one.memory.doubt()
        assert one.memory._writing is not None
        await one.memory._writing
        async with hearing(url, "fresh") as fresh:
            there = OperatorStore(fresh)
            assert await there.begin("acme", "order 1", MARK, 60_000) == b"mark and answer"
            found = await there.people("acme", ["identity-1"])
            assert found == {"identity-1": LobbyPerson("account 1", "Ada")}
        assert await redis.pttl(_person_key("acme", "identity-1")) > 0


async def test_a_request_that_was_refused_is_not_remembered(url: str) -> None:
    async with hearing(url, "one") as one:
        store = OperatorStore(one)
        await store.begin("acme", "order 1", MARK, 60_000)
        await store.give_up("acme", "order 1")
        assert await store.begin("acme", "order 1", MARK, 60_000) is None
