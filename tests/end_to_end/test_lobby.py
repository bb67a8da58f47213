"""The lobby as its users see it: two servers on one store of each kind, sockets and HTTP."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.end_to_end.raw import (
    BOTH,
    JSON,
    MSGPACK,
    Raw,
    connected,
    inside,
    new_guest,
    new_room,
)
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.eventlog import engines
from towerhall_protocol.merge_patch import apply
from towerhall_server.gateway.tokens import Tokens, new_identity

KEY = secrets.token_urlsafe(32)
MORE = LIMITS | {
    "TOWERHALL_TOKEN_KEYS": KEY,
    "TOWERHALL_LIMIT_HISTORY": "1000/s burst 1000",
    "TOWERHALL_LIMIT_HELLO_SECONDS": "1",
}
LOBBY = "/v1/lobby"
TRACES = ("Traceback", " ERROR ", " WARNING ")


class Pair(NamedTuple):
    """Two servers of one service."""

    one: ServerProcess
    other: ServerProcess


@pytest.fixture(scope="module", params=engines.KINDS)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    with engines.running(request.param, folder / "store") as engine:
        flags = ("--redis-url", engine.url)
        with (
            running(folder / "one", *flags, limits=MORE) as one,
            running(folder / "other", *flags, limits=MORE) as other,
        ):
            yield Pair(one, other)
            for server in (one, other):
                assert not any(trace in server.log for trace in TRACES), server.log


@pytest.fixture(scope="module")
def token(pair: Pair) -> str:
    return new_guest(pair.one.url)


@asynccontextmanager
async def lobby(
    url: str, subprotocol: str = MSGPACK, *, receive_bytes: int | None = None
) -> AsyncIterator[Raw]:
    """A socket to the lobby that has not said anything yet."""
    async with connected(url, "", subprotocol, receive_bytes=receive_bytes, path=LOBBY) as raw:
        yield raw


class Watch:
    """The list as one connection sees it."""

    def __init__(self, raw: Raw, shown: dict[str, Any]) -> None:
        self.raw = raw
        self.list = shown

    @property
    def rooms(self) -> dict[str, Any]:
        found: dict[str, Any] = self.list["rooms"]
        return found

    async def hear(self) -> None:
        match await self.raw.hear():
            case ["patch", patch]:
                self.list = apply(self.list, patch)
            case ["reset", shown]:
                self.list = shown

    async def until(self, code: str, **wanted: object) -> None:
        """Wait until a room is shown like this; without `wanted`, until it is not shown."""
        while True:
            room = self.rooms.get(code)
            if wanted and room is not None and wanted.items() <= room.items():
                return
            if not wanted and room is None:
                return
            await self.hear()


@asynccontextmanager
async def looking(
    url: str, token: str, subprotocol: str = MSGPACK, **wanted: object
) -> AsyncIterator[Watch]:
    async with lobby(url, subprotocol) as raw:
        await raw.say("hello", {"token": token, "level": 1, "filter": wanted})
        name, arrival = await raw.hear()
        assert name == "welcome"
        yield Watch(raw, arrival["list"])


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_what_happens_at_one_server_is_seen_at_the_other(
    pair: Pair, token: str, subprotocol: str
) -> None:
    async with (
        looking(pair.one.url, token, subprotocol, game="five_towers") as everything,
        looking(pair.other.url, token, subprotocol, status="waiting", free=1) as joinable,
        looking(pair.other.url, token, subprotocol, game="chess") as nothing,
    ):
        code = new_room(pair.other.url, token, seats=2)["code"]
        await everything.until(code, status="waiting", taken=0, seats=2)
        await joinable.until(code, taken=0)
        async with inside(pair.one.url, code, token) as host:
            await host.done("sit")
            await everything.until(code, taken=1, names=["Ada"])
            await host.done("add_bot")
            await joinable.until(code)
            await host.done("start")
            await everything.until(code, status="playing", taken=2)
        private = new_room(pair.one.url, token, seats=2, private=True)["code"]
        last = new_room(pair.one.url, token, seats=2)["code"]
        await everything.until(last, taken=0)
        assert private not in everything.rooms
        assert nothing.list == {"rooms": {}}
        async with looking(pair.one.url, token, subprotocol, game="five_towers") as late:
            assert late.list == everything.list


async def test_another_filter_shows_other_rooms(pair: Pair, token: str) -> None:
    code = new_room(pair.one.url, token, seats=2)["code"]
    async with looking(pair.one.url, token, status="playing") as watch:
        assert code not in watch.rooms
        await watch.raw.say("filter", {"status": "waiting"})
        await watch.until(code, status="waiting")
        await watch.raw.say("filter", {"stauts": "waiting"})
        assert (await watch.raw.wait_for("error"))[1] == "malformed_message"
        await watch.raw.say("filter", {})
        await watch.until(code, status="waiting")


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_nothing_is_heard_before_hello_and_nonsense_has_its_code(
    pair: Pair, token: str, subprotocol: str
) -> None:
    async with lobby(pair.one.url, subprotocol) as raw:
        for message in (["filter", {}], ["ping", 1]):
            await raw.say(*message)
            assert (await raw.hear())[:2] == ["error", "hello_expected"]
        for filter_ in ({"gmae": ""}, {"free": -1}, {"status": "over"}, "x" * 400, 7):
            await raw.say("hello", {"token": token, "level": 1, "filter": filter_})
            assert (await raw.hear())[:2] == ["error", "malformed_message"]
        await raw.say("hello", {"token": token, "level": 1})
        assert (await raw.hear())[0] == "welcome"
        await raw.say("hello", {"token": token, "level": 1})
        assert (await raw.wait_for("error"))[1] == "hello_expected"
        await raw.say("command", 1, "", {"command": "sit"})
        assert (await raw.wait_for("error"))[1] == "unknown_message"
        name, seq, now = await pong(raw)
        assert (name, seq, now[1]) == ("pong", 5, 0)


async def pong(raw: Raw) -> list[Any]:
    await raw.say("ping", 5)
    return await raw.wait_for("pong")


async def test_whoever_may_not_look_is_told_why(pair: Pair, token: str) -> None:
    stranger = Tokens([secrets.token_urlsafe(32)], 90).issue(new_identity("Mallory"))
    for bad in ("", "xyzzy", stranger, f"{token}A"):
        async with lobby(pair.one.url) as raw:
            await raw.say("hello", {"token": bad, "level": 1})
            end = await raw.end()
            assert (end.error, end.code) == ("unauthorized", 4401)
    async with lobby(pair.one.url) as raw:
        await raw.say("hello", {"token": token, "level": 0})
        end = await raw.end()
        assert (end.error, end.code) == ("level_too_old", 4410)
    async with lobby(pair.one.url) as raw:
        end = await raw.end()
        assert (end.error, end.code) == ("hello_late", 4408)
    async with lobby(pair.one.url) as raw:
        raw.burst(*(["dance"] for _ in range(12)))
        assert (await raw.end()).code == 4400
    async with lobby(pair.one.url) as raw:
        await raw.say("hello", {"token": "a" * 10_000, "level": 1})
        assert (await raw.end()).code == 1009


async def test_a_reader_that_falls_behind_gets_a_whole_list(pair: Pair, token: str) -> None:
    rooms = [new_room(pair.other.url, token, seats=2)["code"] for _ in range(120)]
    async with lobby(pair.one.url, receive_bytes=4096) as slow:
        await slow.say("hello", {"token": token, "level": 1})
        name, arrival = await slow.hear()
        assert name == "welcome"
        watch = Watch(slow, arrival["list"])
        await watch.until(rooms[-1], taken=0)
        # Each answer is a whole list; nobody reads them, so most are left out.
        slow.wire.transport.pause_reading()
        asked = 300
        slow.burst(*(["filter", {"free": number % 2}] for number in range(asked)))
        await asyncio.sleep(1.5)
        slow.wire.transport.resume_reading()
        heard = 0
        code = new_room(pair.other.url, token, seats=2)["code"]
        while code not in watch.rooms:
            await watch.hear()
            heard += 1
        assert heard < asked / 2
        await pong(slow)
        async with looking(pair.other.url, token, free=1) as fresh:
            await watch.until(code, taken=0)
            assert watch.list == fresh.list


async def test_a_server_that_stops_asks_those_who_look_to_go(tmp_path: Path) -> None:
    with running(tmp_path / "data", limits=MORE) as server:
        token = new_guest(server.url)
        async with looking(server.url, token, JSON) as goes, looking(server.url, token) as stays:
            stopping = asyncio.create_task(asyncio.to_thread(server.stop))
            assert (await goes.raw.wait_for("go"))[1] == 2000
            await goes.raw.wire.close()
            end = await stays.raw.end()
            assert (end.code, end.reason) == (1012, "restart")
            assert await stopping == 0
        assert "Traceback" not in server.log
