"""The thin connection on real engines: addresses, cuts, silence, and a new start after each."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from tests.proxy.store import Proxy
from tests.sockets import HOST, free_port
from tests.store.engines import KINDS, client, started
from towerhall_server.store import connection as connection_module
from towerhall_server.store.connection import Connection
from towerhall_server.store.endpoint import Endpoint, endpoint
from towerhall_server.store.errors import StoreDownError, StoreError, StoreRefusedError
from towerhall_server.store.resp import packed

INCR = packed("INCR", "counter")


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    connection = Connection(url)
    try:
        yield connection
    finally:
        await connection.close()


def asked_of(connection: Connection, commands: Sequence[bytes]) -> asyncio.Future[list[Any]]:
    answers: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def answered(found: list[Any]) -> None:
        if not answers.done():
            answers.set_result(found)

    connection.ask(commands, answered)
    return answers


def is_unknown(answer: Any) -> bool:
    return type(answer) is StoreError


@pytest.mark.parametrize("kind", KINDS)
async def test_addresses_users_and_databases_mean_what_they_mean_elsewhere(
    kind: str, tmp_path: Path
) -> None:
    port = free_port()
    who = [packed("ACL", "WHOAMI"), packed("SET", "found", "here")]
    async with started(kind, tmp_path) as url, client(url) as redis:
        await redis.config_set("port", port)
        await redis.acl_setuser(
            "ada", enabled=True, passwords="+pass:word", keys=["*"], commands=["+@all"]
        )
        for database, (address, user) in enumerate(
            {
                f"{url}?db=0": b"default",
                f"{url}?db=1": b"default",
                f"redis://127.0.0.1:{port}/2": b"default",
                f"redis://localhost:{port}?db=3": b"default",
                f"redis://ada:pass%3Aword@127.0.0.1:{port}/4": b"ada",
                f"{url}?db=5&username=ada&password=pass:word": b"ada",
                f"{url}?db=6&client_name=hall": b"default",
            }.items()
        ):
            async with connected(address) as connection:
                assert await asked_of(connection, who) == [user, b"OK"]
                if "client_name" in address:
                    assert await asked_of(connection, [packed("CLIENT", "GETNAME")]) == [b"hall"]
            async with client(f"{url}?db={database}") as there:
                assert await there.get("found") == b"here"
        await redis.config_set("requirepass", "alone")
        async with connected(f"redis://:alone@127.0.0.1:{port}") as connection:
            assert await asked_of(connection, who) == [b"default", b"OK"]


@pytest.mark.parametrize("query", ["username=ada&password=wrong", "password=none&db=1", "db=99"])
async def test_who_is_not_let_in_is_told_so(engine_url: str, redis: Redis, query: str) -> None:
    async with connected(f"{engine_url}?{query}") as connection:
        for _ in range(2):
            answers = await asked_of(connection, [INCR, INCR])
            assert [type(answer) for answer in answers] == [StoreRefusedError] * 2
    assert await redis.get("counter") is None


@pytest.mark.parametrize(
    "address", ["unix:///nowhere/s", "redis://127.0.0.1:1", "redis://" + "a..b"]
)
async def test_where_nobody_is_nothing_is_asked(address: str) -> None:
    async with connected(address) as connection:
        answers = await asked_of(connection, [INCR] * 3)
        assert all(type(answer) in (StoreDownError, StoreError) for answer in answers)
        assert len(set(map(id, answers))) == 3


async def test_nothing_to_ask_is_answered_by_nothing_and_costs_nothing(
    redis: Redis, proxy: Proxy
) -> None:
    async with connected(proxy.url) as connection:
        for count in (1, 2):
            nothing = asked_of(connection, [])
            assert nothing.done(), "the store sends no reply to wait for"
            assert nothing.result() == []
            assert await asked_of(connection, [INCR]) == [count]
        assert proxy.connections == 1


async def test_answers_that_drip_are_put_together(redis: Redis, proxy: Proxy) -> None:
    proxy.drip_seconds = 0.0
    await redis.xadd("stream", {"field": b"\r\n$5\r\n" * 20}, id="1-0")
    async with connected(proxy.url) as connection:
        commands = [packed("XRANGE", "stream", "-", "+"), packed("GET", "nothing"), INCR]
        assert await asked_of(connection, commands) == [
            [[b"1-0", [b"field", b"\r\n$5\r\n" * 20]]],
            None,
            1,
        ]


async def test_a_cut_between_answers_leaves_the_later_ones_unknown(
    redis: Redis, proxy: Proxy
) -> None:
    async with connected(proxy.url) as connection:
        proxy.cut_after = len(b":1\r\n:2\r\n:3\r\n:")
        answers = await asked_of(connection, [INCR] * 9)
        assert answers[:3] == [1, 2, 3]
        assert all(map(is_unknown, answers[3:]))
        assert await redis.get("counter") == b"9", "unknown, and done all the same"
        proxy.cut_after = None
        assert await asked_of(connection, [INCR]) == [10]


async def test_silence_is_taken_for_a_cut_after_a_while(redis: Redis, proxy: Proxy) -> None:
    async with connected(f"{proxy.url}?socket_timeout=0.3") as connection:
        assert await asked_of(connection, [INCR]) == [1]
        proxy.silent = True
        before = monotonic()
        first, second = await asyncio.gather(
            asked_of(connection, [INCR]), asked_of(connection, [INCR])
        )
        assert all(map(is_unknown, first + second))
        assert 0.25 < monotonic() - before < 3
        proxy.silent = False
        assert await asked_of(connection, [INCR]) == [4]


async def test_slow_answers_are_no_silence(redis: Redis, proxy: Proxy) -> None:
    await redis.set("text", b"x" * 20)
    proxy.drip_seconds = 0.05
    async with connected(f"{proxy.url}?socket_timeout=0.5") as connection:
        before = monotonic()
        assert await asked_of(connection, [packed("GET", "text")]) == [b"x" * 20]
        assert monotonic() - before > 0.5


async def test_an_engine_that_does_not_greet_is_given_up(redis: Redis, proxy: Proxy) -> None:
    proxy.silent = True
    async with connected(f"{proxy.url}?db=1&socket_timeout=0.2") as connection:
        assert all(map(is_unknown, await asked_of(connection, [INCR])))
        proxy.silent = False
        assert await asked_of(connection, [INCR]) == [1]


async def test_who_does_not_finish_connecting_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        url = f"rediss://127.0.0.1:{port}?socket_connect_timeout=0.2&ssl_cert_reqs=none"
        async with connected(url) as connection:
            before = monotonic()
            assert all(map(is_unknown, await asked_of(connection, [INCR])))
            assert monotonic() - before < 2


async def test_a_cut_while_nothing_is_asked_costs_nobody_anything(
    redis: Redis, proxy: Proxy
) -> None:
    async with connected(proxy.url) as connection:
        for count in (1, 2, 3):
            assert await asked_of(connection, [INCR]) == [count]
            assert proxy.connections == count
            proxy.cut()
            await asyncio.sleep(0.05)


async def test_all_who_ask_at_once_share_one_connection(redis: Redis, proxy: Proxy) -> None:
    async with connected(proxy.url) as connection:
        answers = await asyncio.gather(*(asked_of(connection, [INCR, INCR]) for _ in range(20)))
        assert answers == [[2 * n + 1, 2 * n + 2] for n in range(20)]
        assert proxy.connections == 1


async def test_huge_batches_and_huge_values_pass(engine_url: str, redis: Redis) -> None:
    value = bytes(range(256)) * 20_000
    async with connected(engine_url) as connection:
        assert await asked_of(connection, [INCR] * 50_000) == list(range(1, 50_001))
        commands = [packed("SET", "large", value), *[packed("GET", "large")] * 4]
        assert await asked_of(connection, commands) == [b"OK", *[value] * 4]


async def test_a_refusal_is_the_answer_of_one_command(engine_url: str, redis: Redis) -> None:
    async with connected(engine_url) as connection:
        first, wrong, last = await asked_of(connection, [INCR, packed("LPUSH", "counter", 1), INCR])
        assert (first, last) == (1, 2)
        assert isinstance(wrong, StoreRefusedError)
        assert str(wrong).startswith("WRONGTYPE")


async def test_a_cancelled_question_was_asked_and_confuses_nobody(
    engine_url: str, redis: Redis
) -> None:
    async with connected(engine_url) as connection:
        assert await asked_of(connection, [INCR]) == [1]
        asking = asked_of(connection, [INCR])
        await asyncio.sleep(0)
        asking.cancel()
        assert await asked_of(connection, [INCR]) == [3]


async def test_a_closed_connection_opens_again_when_it_is_needed(
    redis: Redis, proxy: Proxy
) -> None:
    async with connected(proxy.url) as connection:
        assert await asked_of(connection, [INCR]) == [1]
        await connection.close()
        await connection.close()
        assert await asked_of(connection, [INCR]) == [2]
        assert proxy.connections == 2


async def test_a_silent_engine_is_left_as_soon_as_another_one_has_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_module, "LOOK_SECONDS", 1e6)
    monkeypatch.setattr(connection_module, "SILENT_SECONDS", 0.01)
    with socket.create_server((HOST, 0)) as silent, socket.create_server((HOST, 0)) as other:
        places = [endpoint(f"redis://{HOST}:{s.getsockname()[1]}") for s in (silent, other)]
        patient = [msgspec.structs.replace(place, answer_seconds=1e6) for place in places]
        moved = asyncio.Event()

        async def find() -> Endpoint:
            return patient[moved.is_set()]

        connection = Connection(find)
        answer = asked_of(connection, [INCR])
        # It is the same one at first: there is nothing to leave it for.
        done, _ = await asyncio.wait([answer], timeout=0.1)
        assert not done
        moved.set()
        (unknown,) = await answer
        assert is_unknown(unknown)
        assert f"the primary is at {HOST}:{patient[1].port} now" in str(unknown)
        await connection.close()
