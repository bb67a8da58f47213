"""A server whose store has no memory left: it says so, lets people watch, and goes on by itself."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.end_to_end.raw import ask, bearer, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess
from tests.end_to_end.topology import TOKEN_KEYS
from tests.store.engines import KINDS, client, running


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with running(request.param, tmp_path / "store") as engine:
        yield engine.url


@pytest.fixture
async def redis(store_url: str) -> AsyncIterator[Redis]:
    async with client(store_url) as connected:
        yield connected


@pytest.fixture
def served(store_url: str, tmp_path: Path) -> Iterator[str]:
    variables = LIMITS | {"TOWERHALL_TOKEN_KEYS": TOKEN_KEYS}
    server = ServerProcess(tmp_path / "data", "--redis-url", store_url, limits=variables)
    try:
        server.start()
        yield server.url
        assert "Traceback" not in server.log
    finally:
        with suppress(ProcessLookupError, AssertionError):
            server.kill()


async def test_p118_a_full_store_is_told_watched_and_gone_on_with(
    served: str, redis: Redis
) -> None:
    token = new_guest(served)
    code = new_room(served, token)["code"]
    async with inside(served, code, token) as ada:
        await ada.done("sit")
        await redis.config_set("maxmemory", 1)
        n = await ada.command("ready")
        await ada.wait_for("paused", True)
        ready = ask(served, "GET", "/readyz")
        assert (ready.status, ready.code) == (503, "store_full")
        for path in ("/readyz?watch", "/healthz"):
            assert ask(served, "GET", path).status == 200
        assert ask(served, "GET", f"/v1/rooms/{code}").status == 200
        refused = ask(served, "POST", "/v1/rooms", {"game": "five_towers"}, bearer(token))
        assert (refused.status, refused.code) == (503, "store_unavailable")
        async with inside(served, code, new_guest(served, "Eve")) as eve:
            await eve.quiet()
            await redis.config_set("maxmemory", 0)
            await eve.wait_for("paused", False)
            await eve.wait_for("frame")
            assert (await ada.answer(n))[0] == "frame"
        assert ask(served, "GET", "/readyz").status == 200
        new_room(served, token)
