"""What cannot travel is refused where it is made, and a line that fails inside says so."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.client.fake_server import PLAYING, FakeServer, Sleeps, Visit, fake_server, joined
from tests.client.test_connection import BID, at_a_table
from tests.client.test_lobby import A, B, Talk, lobby_server
from tests.client.test_reconnect import back
from towerhall_client.connection import Answer, connect
from towerhall_client.errors import TableClosedError
from towerhall_client.lobby import look_at_lobby
from towerhall_client.retry import Retry
from towerhall_protocol import messages as m
from towerhall_protocol.level import SUBPROTOCOLS
from towerhall_protocol.lobby import Filter

HALF = "caf\udce9"
"""What a terminal of another encoding makes of a letter: half a surrogate pair."""

NO_MESSAGE = "malformed_message|number_out_of_range|nested_too_deep"

FAULT = "client_fault: RuntimeError('a bug')"

UNSENDABLE: dict[str, Callable[[Any], Awaitable[object]]] = {
    "chat": lambda table: table.chat(HALF),
    "a long chat": lambda table: table.chat("a" * 1201),
    "emote": lambda table: table.emote(HALF),
    "options": lambda table: table.set_options({"preset": HALF}),
    "a key of the options": lambda table: table.set_options({HALF: 1}),
    "a fraction": lambda table: table.set_options({"preset": 0.5}),
    "a large number": lambda table: table.set_options(turn_seconds=1 << 53),
    "a huge number": lambda table: table.set_options(turn_seconds=1 << 64),
    "bytes": lambda table: table.set_options({"preset": b"a"}),
    "depth": lambda table: table.set_options({"preset": [[[[[[1]]]]]]}),
    "bot": lambda table: table.add_bot(HALF),
    "leave": lambda table: table.leave(HALF),
    "seat": lambda table: table.sit(HALF),
    "choose": lambda table: table.send({"command": "bid", "number": HALF}),
    "dry": lambda table: table.dry({"command": "bid", "number": 0.5}),
}


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
@pytest.mark.parametrize("name", UNSENDABLE)
async def test_whoever_says_it_hears_of_it_at_once(name: str, subprotocol: str) -> None:
    async with fake_server(at_a_table) as server, joined(server, subprotocol=subprotocol) as table:
        await table.turn()
        with pytest.raises(ValueError, match=NO_MESSAGE):
            await asyncio.wait_for(UNSENDABLE[name](table), 5)
        assert table.replay.unanswered == ()
        assert await asyncio.wait_for(table.send(BID), 5) == Answer(1, 2)
        assert len(server.visits) == 1


@pytest.mark.parametrize("name", UNSENDABLE)
async def test_and_also_while_the_line_is_away(name: str) -> None:
    gone, may_return = asyncio.Event(), asyncio.Event()

    async def first(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.drop()

    async def sleep(seconds: float) -> None:
        gone.set()
        await may_return.wait()

    async with (
        fake_server(first, back) as server,
        joined(server, retry=Retry(sleep=sleep)) as table,
    ):
        await gone.wait()
        with pytest.raises(ValueError, match=NO_MESSAGE):
            await asyncio.wait_for(UNSENDABLE[name](table), 5)
        may_return.set()
        assert (await asyncio.wait_for(table.start(), 5)).seq == 2


async def test_a_command_is_sent_again_as_it_was_when_it_was_given() -> None:
    asked = asyncio.Event()

    async def first(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.command()
        asked.set()
        await visit.receive()
        await visit.drop()

    async def second(visit: Visit) -> None:
        await visit.welcome_back()
        command = await visit.command()
        assert command.body == {"command": "bid", "cards": ["sand"]}
        await visit.do(command)
        await visit.stay()

    async with fake_server(first, second) as server, joined(server) as table:
        cards: list[object] = ["sand"]
        waiting = asyncio.create_task(table.send({"command": "bid", "cards": cards}))
        await asked.wait()
        cards.append(object())
        await table.chat("break")
        assert (await asyncio.wait_for(waiting, 5)).seq == 2


async def test_a_token_that_cannot_travel_raises_for_whoever_gave_it() -> None:
    async with fake_server(at_a_table) as server:
        with pytest.raises(ValueError, match="surrogates not allowed"):
            async with connect(server.url, "QJXKZB", HALF):
                pass
        with pytest.raises(ValueError, match="surrogates not allowed"):
            async with look_at_lobby(server.url, HALF):
                pass


async def told_by(waiting: Awaitable[object]) -> str:
    """Of what somebody who waits hears in the end."""
    with pytest.raises(TableClosedError) as closed:
        await asyncio.wait_for(waiting, 5)
    return str(closed.value)


# What was told is looked at outside: whoever leaves a table that failed gets the failure itself.


async def test_a_line_whose_helper_fails_is_not_left_half_dead() -> None:
    async def quiet(visit: Visit) -> None:
        await visit.welcome()
        await visit.socket.wait_closed()

    def ping() -> m.ClientPing:
        raise RuntimeError("a bug")

    told: list[object] = []

    async def join(server: FakeServer) -> None:
        async with joined(server, ping_seconds=0.01) as table:
            table.replay.ping = ping  # type: ignore[method-assign]
            told.extend((await told_by(table.turn()), table.is_up))

    async with fake_server(quiet) as server:
        with pytest.raises(RuntimeError, match="a bug"):
            await join(server)
    assert told == [FAULT, False]


async def test_nor_is_one_that_cannot_wait_for_the_moment_to_leave() -> None:
    async def going(visit: Visit) -> None:
        await visit.welcome()
        await visit.command()
        await visit.send(m.ServerGo(4000))
        await visit.socket.wait_closed()

    class Broken(Sleeps):
        async def __call__(self, seconds: float) -> None:
            raise RuntimeError("a bug")

    told: list[object] = []

    async def join(server: FakeServer) -> None:
        async with joined(server, Broken()) as table:
            told.extend((await told_by(table.start()), await told_by(table.turn()), table.is_up))

    async with fake_server(going) as server:
        with pytest.raises(RuntimeError, match="a bug"):
            await join(server)
    assert told == [FAULT, FAULT, False]


@pytest.mark.parametrize("is_up", [True, False])
async def test_a_filter_that_cannot_travel_is_refused_and_the_old_one_stays(is_up: bool) -> None:
    broken, may_return = asyncio.Event(), asyncio.Event()

    async def first(talk: Talk) -> None:
        await talk.welcome(A=A)
        await broken.wait()
        await talk.close("restart")

    async def second(talk: Talk) -> None:
        hello = await talk.welcome(B=B)
        assert hello.greeting.filter == Filter(free=1)
        await talk.until_closed()

    async def sleep(seconds: float) -> None:
        await may_return.wait()

    async with (
        lobby_server(first, second) as url,
        look_at_lobby(url, "token", Filter(free=1), retry=Retry(sleep=sleep)) as lobby,
    ):
        if not is_up:
            broken.set()
            await lobby.until(lambda: not lobby.up)
        with pytest.raises(ValueError, match="malformed_message"):
            await lobby.choose(Filter(game=HALF))
        broken.set()
        may_return.set()
        await lobby.until(lambda: lobby.rooms == {"B": B})


@pytest.mark.parametrize("says_go", [True, False])
async def test_a_lobby_that_fails_inside_says_so(says_go: bool) -> None:
    async def script(talk: Talk) -> None:
        await talk.welcome(A=A)
        if says_go:
            await talk.say(m.ServerGo(4000))
            await talk.until_closed()
        else:
            await talk.close("restart")

    async def sleep(seconds: float) -> None:
        raise RuntimeError("a bug")

    told: list[str] = []

    async def looking(url: str) -> None:
        async with look_at_lobby(url, "token", retry=Retry(sleep=sleep)) as lobby:
            told.append(await told_by(lobby.until(lambda: False)))

    async with lobby_server(script) as url:
        with pytest.raises(RuntimeError, match="a bug"):
            await looking(url)
    assert told == [FAULT]
