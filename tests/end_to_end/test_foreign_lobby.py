"""Another lobby sends its people to play, by HTTP and the specification alone."""

import ast
import asyncio
import secrets
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import foreign_lobby
from tests.end_to_end.foreign_lobby import ForeignLobby
from tests.end_to_end.games import QUICK, play_out
from tests.end_to_end.servers import LIMITS, running
from towerhall_client.connection import Table, connect
from towerhall_client.errors import TableClosedError

PLAYERS = {"account/17": "Ada", "ben@site.example": "Ben"}


@pytest.fixture(scope="module")
def lobby(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignLobby]:
    """A lobby beside a service that knows it."""
    key, secret = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    elsewhere = ForeignLobby(key, secret)
    with elsewhere.listening():
        variables = LIMITS | {
            "TOWERHALL_OPERATOR_KEYS": f"elsewhere:{key}",
            "TOWERHALL_WEBHOOKS": f"elsewhere:{elsewhere.hook_url}",
            "TOWERHALL_WEBHOOK_SECRETS": f"elsewhere:{secret}",
        }
        folder = tmp_path_factory.mktemp("foreign") / "data"
        with running(folder, limits=variables) as server:
            elsewhere.url = server.url
            yield elsewhere
            assert key not in server.log
            assert secret not in server.log


async def sit_down(stack: AsyncExitStack, lobby: ForeignLobby, made: dict[str, Any]) -> list[Table]:
    """Everybody who has a token comes and is ready: the game begins by itself."""
    tables = []
    for seat in made["seats"]:
        table = await stack.enter_async_context(
            connect(lobby.url, made["code"], seat["token"], key=made.get("key", ""), retry=QUICK)
        )
        await table.sit()
        await table.ready()
        await seated(table)
        tables.append(table)
    return tables


async def seated(table: Table) -> None:
    await table.until(lambda: table.seat is not None)


async def over(table: Table) -> None:
    await table.until(lambda: table.status == "over")


def test_the_lobby_knows_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(foreign_lobby.__file__).read_text())
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported
    assert imported <= sys.stdlib_module_names


async def test_a_whole_game_for_people_of_another_lobby(lobby: ForeignLobby) -> None:
    made = await asyncio.to_thread(lobby.open_table, "five_towers", PLAYERS, private=True)
    code = made["code"]
    assert made["invite"] == f"/#/r/{code}/{made['key']}"
    async with AsyncExitStack() as stack:
        tables = await sit_down(stack, lobby, made)
        assert [table.seat for table in tables] == [0, 1]
        views: list[Any] = await play_out(tables)
    end = await asyncio.to_thread(lobby.wait_for, "end", code)
    result = views[0]["room"]["result"]
    assert end["room"]["result"] == result
    assert [seat["external_id"] for seat in end["room"]["seats"]] == list(PLAYERS)
    assert [seat["name"] for seat in end["room"]["seats"]] == list(PLAYERS.values())
    state = await asyncio.to_thread(lobby.table, code)
    assert (state["status"], state["result"]) == ("over", result)
    told = [news for news in lobby.told if news["room"]["code"] == code]
    assert [news["kind"] for news in told] == ["turn"] * (len(told) - 1) + ["end"]
    seqs = [news["room"]["seq"] for news in told]
    assert seqs == sorted(set(seqs))
    turns = [news["room"]["turn"] for news in told[:-1]]
    assert len(turns) > 10
    assert {seat for turn in turns for seat in turn} == {0, 1}
    assert all(one != two for one, two in pairwise(turns))
    assert lobby.refused == 0


async def test_a_table_that_is_asked_for_twice_is_opened_once(lobby: ForeignLobby) -> None:
    once = secrets.token_urlsafe()
    first = await asyncio.to_thread(lobby.open_table, "five_towers", PLAYERS, once=once)
    assert await asyncio.to_thread(lobby.open_table, "five_towers", PLAYERS, once=once) == first
    with pytest.raises(RuntimeError, match="key_reused"):
        await asyncio.to_thread(lobby.open_table, "five_towers", PLAYERS, once=once, private=True)
    another = await asyncio.to_thread(lobby.open_table, "five_towers", PLAYERS)
    assert another["code"] != first["code"]
    ids = [[seat["id"] for seat in made["seats"]] for made in (first, another)]
    assert ids[0] == ids[1], "the same account is the same person in every room"


async def test_a_table_is_closed_while_people_play(lobby: ForeignLobby) -> None:
    made = await asyncio.to_thread(lobby.open_table, "five_towers", PLAYERS)
    async with AsyncExitStack() as stack:
        tables = await sit_down(stack, lobby, made)
        await asyncio.to_thread(lobby.wait_for, "turn", made["code"])
        closed = await asyncio.to_thread(lobby.close_table, made["code"], "maintenance")
        assert (closed["status"], closed["closed"]) == ("over", "maintenance")
        for table in tables:
            await over(table)
    news = await asyncio.to_thread(lobby.wait_for, "abandoned", made["code"])
    assert news["room"]["closed"] == "maintenance"
    assert "result" not in news["room"]


async def test_whoever_is_banned_leaves_and_comes_back_when_forgiven(lobby: ForeignLobby) -> None:
    made = await asyncio.to_thread(lobby.open_table, "five_towers", PLAYERS)
    token = made["seats"][0]["token"]
    async with connect(lobby.url, made["code"], token, retry=QUICK) as table:
        ban = await asyncio.to_thread(lobby.ban, "account/17")
        with pytest.raises(TableClosedError, match="banned"):
            async with asyncio.timeout(10):
                await table.until(lambda: False)
    with pytest.raises(TableClosedError, match="banned"):
        async with connect(lobby.url, made["code"], token, retry=QUICK):
            pass
    await asyncio.to_thread(lobby.forgive, ban)
    async with connect(lobby.url, made["code"], token, retry=QUICK) as table:
        assert table.status == "waiting"
