"""Players whose connections end: on two servers, over a store that stands still or goes back."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from redis.asyncio import Redis

from tests.end_to_end.raw import Raw, connected, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess
from tests.end_to_end.topology import TOKEN_KEYS
from tests.eventlog.logs import copy_of
from tests.store.engines import client, running
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.store.engine import EmbeddedEngine

UNDER_WAY = 8
PAUSE_SECONDS = 0.4
SOON_SECONDS = 10.0


class Two(NamedTuple):
    """Two servers on one store."""

    engine: EmbeddedEngine
    here: ServerProcess
    there: ServerProcess


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    with running("valkey", tmp_path / "store") as engine:
        variables = LIMITS | {"TOWERHALL_TOKEN_KEYS": TOKEN_KEYS}
        servers = [
            ServerProcess(tmp_path / name, "--redis-url", engine.url, limits=variables)
            for name in ("here", "there")
        ]
        try:
            for server in servers:
                server.start()
            yield Two(engine, *servers)
        finally:
            for server in servers:
                with suppress(ProcessLookupError, AssertionError):
                    server.kill()


@pytest.fixture
async def redis(two: Two) -> AsyncIterator[Redis]:
    async with client(two.engine.url) as connected:
        yield connected


@asynccontextmanager
async def standing_still(engine: EmbeddedEngine) -> AsyncIterator[None]:
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(engine.pid, signal.SIGCONT)


async def test_a_returning_player_has_the_seat_though_the_store_went_back(
    two: Two, redis: Redis
) -> None:
    token = new_guest(two.here.url)
    code = new_room(two.here.url, token)["code"]
    async with inside(two.here.url, code, token) as ada:
        await ada.done("sit")
    copy = await copy_of(redis)
    for _ in range(5):
        async with inside(two.here.url, code, token):
            pass
    async with inside(two.here.url, code, token) as old:
        async with redis.pipeline(transaction=True) as at_once:
            at_once.flushall()
            for key, value in copy.items():
                assert value is not None
                at_once.restore(key, 0, value, replace=True)
            await at_once.execute()
        async with inside(two.there.url, code, token) as new:
            assert (await old.end()).reason == "replaced"
            assert isinstance(await new.quiet(), list)
            assert (await new.done("ready"))[3][0] == 0


async def test_p44_a_client_that_goes_on_elsewhere_is_never_told_of_too_many(
    two: Two, redis: Redis
) -> None:
    token = new_guest(two.here.url)
    code = new_room(two.here.url, token)["code"]
    async with inside(two.here.url, code, token) as old:
        frame = await old.done("sit")
        cursor = await cursor_at(two.here.url, code, frame)
        async with standing_still(two.engine):
            for number in range(UNDER_WAY):
                await old.command("ready", ready=number % 2 == 0)
            await asyncio.sleep(PAUSE_SECONDS / 2)
            old.wire.transport.abort()
            await asyncio.sleep(PAUSE_SECONDS / 2)
    # What is on its way from the old server gets into the log.
    for _ in range(500):
        if await redis.xlen(room_keys(code).log) > frame[1]:
            break
        await asyncio.sleep(SOON_SECONDS / 500)
    await asyncio.sleep(PAUSE_SECONDS / 2)
    async with connected(two.there.url, code) as new:
        new.origin = old.origin
        await new.hello(token, cursor=cursor)
        assert "view" not in (await new.wait_for("welcome"))[1]
        sent = {n: ["command", n, "", ready(n)] for n in range(2, 2 + UNDER_WAY)}
        unanswered, again = set(sent), list(sent.values())
        # The frames follow the welcome, so they have been read before anything else is sent.
        answered = [m[3][2] for m in await new.quiet() if m[0] == "frame" and m[3][1:]]
        assert answered, "the old server did nothing: this shows nothing"
        unanswered -= set(answered)
        numbers = range(2 + UNDER_WAY, 2 + UNDER_WAY + len(answered))
        new.burst(*again, *(["command", n, "", ready(n)] for n in numbers))
        unanswered |= set(numbers)
        async with asyncio.timeout(SOON_SECONDS):
            while unanswered:
                message = await new.hear()
                assert message[:2] != ["error", "too_many_unanswered"], message
                unanswered -= {n for n in unanswered if new.is_answer(message, n)}


def ready(n: int) -> dict[str, Any]:
    return {"command": "ready", "ready": n % 2 == 0}


async def cursor_at(url: str, code: str, frame: list[Any]) -> list[Any]:
    """Where somebody stands who has seen that frame."""
    async with connected(url, code) as watcher:
        await watcher.hello(new_guest(url, "Eve"))
        welcome = await watcher.wait_for("welcome")
    return [welcome[1]["cursor"][0], *frame[1:3]]


async def test_p45_a_command_that_came_before_its_connection_was_closed_is_not_done(
    two: Two,
) -> None:
    token = new_guest(two.here.url)
    code = new_room(two.here.url, token)["code"]
    async with inside(two.here.url, code, token) as ada, watching(two.here.url, code) as eve:
        await ada.done("sit")
        ada.burst(["command", 2, "", ready(2)], *(["nonsense"] for _ in range(20)))
        assert (await ada.end()).reason == "bad_message"
        heard = [message for message in await eve.quiet() if message[0] == "frame"]
        assert [frame[3][2] for frame in heard] == [1]
        async with connected(two.here.url, code) as again:
            again.origin = ada.origin
            await again.hello(token)
            await again.wait_for("welcome")
            await again.command("ready", n=2)
            assert (await again.answer(2))[0] == "frame"


@asynccontextmanager
async def watching(url: str, code: str) -> AsyncIterator[Raw]:
    async with inside(url, code, new_guest(url, "Eve")) as watcher:
        yield watcher
