"""The list of rooms over breaks, against a lobby that says what it is told to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from towerhall_client.errors import TableClosedError
from towerhall_client.lobby import look_at_lobby
from towerhall_client.retry import Retry
from towerhall_protocol import codec
from towerhall_protocol.errors import CLOSES
from towerhall_protocol.level import JSON, MSGPACK, SUBPROTOCOLS
from towerhall_protocol.lobby import (
    Filter,
    LobbyArrival,
    LobbyFilter,
    LobbyHello,
    LobbyPatch,
    LobbyReset,
    LobbyServerMessage,
    LobbyWelcome,
)
from towerhall_protocol.messages import ServerError, ServerGo, ServerPaused
from towerhall_protocol.wire import read_lobby_client

QUICK = Retry(first_seconds=0.01, most_seconds=0.02, patience_seconds=0.2)
A, B = {"code": "A", "taken": 1}, {"code": "B", "taken": 2}


class Talk:
    """One connection, seen by the lobby."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self._text = socket.subprotocol == JSON

    async def hear(self) -> Any:
        data = await self._socket.recv()
        decoded = codec.decode_json(data) if isinstance(data, str) else codec.decode(data)
        return read_lobby_client(decoded)

    async def say(self, *messages: LobbyServerMessage) -> None:
        for message in messages:
            encode = codec.encode_json if self._text else codec.encode
            await self._socket.send(encode(message))

    async def welcome(self, **rooms: object) -> LobbyHello:
        hello = await self.hear()
        assert isinstance(hello, LobbyHello)
        await self.say(LobbyWelcome(LobbyArrival("me", "Ada", 1, (1, 0), {"rooms": rooms})))
        return hello

    async def close(self, reason: str) -> None:
        await self._socket.close(CLOSES[reason].code, reason)

    async def nothing(self, data: str | bytes) -> None:
        await self._socket.send(data)

    async def until_closed(self) -> None:
        await self._socket.wait_closed()


Script = Callable[[Talk], Awaitable[None]]


@asynccontextmanager
async def lobby_server(*scripts: Script) -> AsyncIterator[str]:
    """A lobby that follows one script for each connection, the last one for all after it."""
    left = list(scripts)

    async def talk(socket: ServerConnection) -> None:
        assert socket.request is not None
        assert socket.request.path == "/v1/lobby"
        script = left.pop(0) if len(left) > 1 else left[0]
        await script(Talk(socket))

    names: Any = SUBPROTOCOLS
    async with serve(talk, "127.0.0.1", 0, subprotocols=names, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
async def test_the_list_follows_what_the_lobby_tells(subprotocol: str) -> None:
    async def script(talk: Talk) -> None:
        hello = await talk.welcome(A=A)
        assert hello.greeting.filter == Filter(game="duel", free=1)
        assert hello.greeting.token == "token"
        patch = {"rooms": {"B": B, "A": {"taken": 3}}, "more": 7, "next": "0B"}
        await talk.say(LobbyPatch(patch))
        assert await talk.hear() == LobbyFilter(Filter(status="playing"))
        await talk.say(LobbyReset({"rooms": {"B": B}}), ServerPaused(True))
        await talk.until_closed()

    async with (
        lobby_server(script) as url,
        look_at_lobby(url, "token", Filter(game="duel", free=1), subprotocol=subprotocol) as lobby,
    ):
        await lobby.until(lambda: lobby.more == 7)
        assert lobby.rooms == {"A": A | {"taken": 3}, "B": B}
        assert lobby.next == "0B"
        assert lobby.up
        await lobby.choose(Filter(status="playing"))
        await lobby.until(lambda: lobby.paused)
        assert (lobby.rooms, lobby.more, lobby.next) == ({"B": B}, 0, "")


async def test_after_a_break_the_list_starts_anew_with_the_newest_filter() -> None:
    async def first(talk: Talk) -> None:
        await talk.welcome(A=A)
        await talk.hear()
        await talk.close("restart")

    async def second(talk: Talk) -> None:
        hello = await talk.welcome(B=B)
        assert hello.greeting.filter == Filter(free=2)
        await talk.until_closed()

    async with (
        lobby_server(first, second) as url,
        look_at_lobby(url, "token", retry=QUICK) as lobby,
    ):
        assert lobby.rooms == {"A": A}

        async def next_rooms() -> dict[str, Any]:
            async with aclosing(lobby.changes()) as changes:
                return await anext(changes)

        following = asyncio.create_task(next_rooms())
        await asyncio.sleep(0)
        await lobby.choose(Filter(free=2))
        assert await asyncio.wait_for(following, 10) == {"B": B}


async def test_whoever_is_told_to_go_comes_back_elsewhere() -> None:
    async def first(talk: Talk) -> None:
        await talk.welcome(A=A)
        await talk.say(ServerGo(10), ServerGo(10))
        await talk.until_closed()

    async def second(talk: Talk) -> None:
        await talk.welcome(B=B)
        await talk.until_closed()

    async with (
        lobby_server(first, second) as url,
        look_at_lobby(url, "token", retry=QUICK) as lobby,
    ):
        await lobby.until(lambda: lobby.rooms == {"B": B})


async def test_a_server_that_closes_before_the_moment_is_not_asked_again_before_it() -> None:
    closed, moment = asyncio.Event(), asyncio.Event()
    waits: list[float] = []

    async def first(talk: Talk) -> None:
        await talk.welcome(A=A)
        await talk.say(ServerGo(4000))
        await talk.close("restart")
        closed.set()

    async def second(talk: Talk) -> None:
        assert moment.is_set()
        await talk.welcome(B=B)
        await talk.until_closed()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await moment.wait()

    retry = Retry(sleep=sleep, chance=lambda: 0.5)
    async with (
        lobby_server(first, second) as url,
        look_at_lobby(url, "token", retry=retry) as lobby,
    ):
        await closed.wait()
        await lobby.until(lambda: not lobby.up)
        await asyncio.sleep(0.05)
        assert lobby.rooms == {"A": A}
        moment.set()
        await lobby.until(lambda: lobby.rooms == {"B": B})
        assert waits == [2.0]


async def test_only_a_connection_that_lasted_makes_waits_short_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("towerhall_client.live_list.STEADY_SECONDS", 0.0)
    waits: list[float] = []

    async def lasting(talk: Talk) -> None:
        await talk.welcome(A=A)
        await talk.close("restart")

    async def failing(talk: Talk) -> None:
        await talk.close("restart")

    async def last(talk: Talk) -> None:
        await talk.welcome(B=B)
        await talk.until_closed()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    scripts = (lasting, failing, failing, lasting, failing, last)
    retry = Retry(sleep=sleep, chance=lambda: 0.5)
    async with lobby_server(*scripts) as url, look_at_lobby(url, "token", retry=retry) as lobby:
        await lobby.until(lambda: lobby.rooms == {"B": B})
    assert waits == [0.125, 0.25, 0.5, 0.125, 0.25]


@pytest.mark.parametrize("nonsense", [b"\xc1", b'["patch",{}]', "text", b"\x91\xa5patch"])
async def test_nonsense_leads_to_another_connection(nonsense: str | bytes) -> None:
    async def first(talk: Talk) -> None:
        await talk.welcome()
        await talk.nothing(nonsense)
        await talk.until_closed()

    async def second(talk: Talk) -> None:
        await talk.welcome(A=A)
        await talk.nothing(codec.encode(["later", 1]))
        await talk.until_closed()

    async with (
        lobby_server(first, second) as url,
        look_at_lobby(url, "token", retry=QUICK) as lobby,
    ):
        await lobby.until(lambda: lobby.rooms == {"A": A})


async def test_whoever_is_refused_for_good_is_told_and_does_not_come_back() -> None:
    async def refuse(talk: Talk) -> None:
        await talk.hear()
        await talk.say(ServerError("unauthorized", {"detail": "no"}, "get a token"))
        await talk.close("unauthorized")

    async with lobby_server(refuse) as url:
        with pytest.raises(TableClosedError) as closed:
            async with look_at_lobby(url, "token", retry=QUICK):
                raise AssertionError("nobody may get here")
        assert closed.value.code == "unauthorized"

    async def later(talk: Talk) -> None:
        await talk.welcome()
        await talk.close("unauthorized")

    async with lobby_server(later) as url, look_at_lobby(url, "token", retry=QUICK) as lobby:
        with pytest.raises(TableClosedError):
            await lobby.until(lambda: False)


async def test_a_service_that_is_not_there_is_tried_for_a_while() -> None:
    with pytest.raises(TableClosedError) as closed:
        async with look_at_lobby("http://127.0.0.1:9", "token", retry=QUICK):
            raise AssertionError("nobody may get here")
    assert closed.value.code == "unreachable"
