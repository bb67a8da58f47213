"""Searches of a real server: in processes of its own, told to those who wait, gone with it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess, running
from tests.end_to_end.test_workers import command_of, gone, workers_of
from tests.programs.bench.usage import children
from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError
from towerhall_client.http import Service
from towerhall_protocol import updates as u

SECONDS = 20


class Thinking(ServerProcess):
    module = "tests.end_to_end.thinking_server"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    flags = ("--search-processes", "1")
    with running(tmp_path / "data", *flags, kind=Thinking) as process:
        yield process


def searching(pids: list[int]) -> list[int]:
    """Those of the processes that search."""
    return [pid for pid in pids if "search_process" in command_of(pid)]


async def some_search(server: ServerProcess) -> int:
    """The search process, once it is there."""
    async with asyncio.timeout(SECONDS):
        while not (found := searching(server.children())):  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.02)
    assert len(found) == 1
    return found[0]


@asynccontextmanager
async def to_move(server: ServerProcess) -> AsyncIterator[Table]:
    """A room with a bot, in which its host is to move."""
    service = Service(server.url)
    guest = await service.guest("Ada")
    room = await service.create_room(guest.token, "thinking", seats=2)
    async with connect(server.url, room.code, guest.token, retry=QUICK) as table:
        await table.sit(0)
        await table.add_bot("easy")
        await table.start()
        await table.turn()
        yield table


async def think(table: Table, ms: int) -> str:
    """Have the server compute for so long; what it says then."""
    with pytest.raises(RefusedError) as refusal:
        await table.send({"command": "think", "ms": ms})
    return str(refusal.value.params["detail"])


async def test_those_who_wait_in_the_queue_are_told_and_all_are_answered(
    server: ServerProcess,
) -> None:
    async with AsyncExitStack() as stack:
        tables = [await stack.enter_async_context(to_move(server)) for _ in range(3)]
        told: list[list[int]] = [[] for _ in tables]

        async def listen(table: Table, heard: list[int]) -> None:
            async for update in table:
                if isinstance(update, u.Searching):
                    heard.append(update.ahead)

        listening = [
            asyncio.create_task(listen(table, heard))
            for table, heard in zip(tables, told, strict=True)
        ]
        await asyncio.sleep(0)
        asked = []
        for table in tables:
            asked.append(asyncio.create_task(think(table, 300)))
            await asyncio.sleep(0.05)
        assert set(await asyncio.gather(*asked)) == {"it was thought about"}
        assert told == [[], [1, 0], [2, 1, 0]]
        for task in listening:
            task.cancel()
        assert len(searching(server.children())) == 1


async def test_a_search_survives_its_process(server: ServerProcess) -> None:
    async with to_move(server) as table:
        asked = asyncio.create_task(think(table, 1000))
        first = await some_search(server)
        os.kill(first, signal.SIGKILL)
        assert await asked == "it was thought about"
        assert await some_search(server) != first


async def test_a_server_that_stops_ends_its_search_processes(server: ServerProcess) -> None:
    async with to_move(server) as table:
        asked = asyncio.create_task(think(table, 60_000))
        pid = await some_search(server)
        assert await asyncio.to_thread(server.stop) == 0
        await gone([pid])
        asked.cancel()


async def test_a_server_that_is_killed_takes_its_search_processes_along(
    server: ServerProcess,
) -> None:
    async with to_move(server) as table:
        asked = asyncio.create_task(think(table, 60_000))
        pid = await some_search(server)
        await asyncio.to_thread(server.kill)
        await gone([pid])
        asked.cancel()


async def test_each_worker_of_a_crew_has_search_processes_of_its_own(tmp_path: Path) -> None:
    with running(tmp_path / "data", "--workers", "2", "--search-processes", "2") as crew:
        service = Service(crew.url)
        guest = await service.guest("Ada")
        room = await service.create_room(guest.token, "nikitin_towers", seats=2, bot_delay_ms=0)
        async with connect(crew.url, room.code, guest.token, retry=QUICK) as table:
            await table.sit(0)
            await table.add_bot("easy")
            await table.start()
            await table.leave("easy")
            before = table.seq
            await table.until(lambda: table.seq > before + 4)
            parents = {pid: searching(children(pid)) for pid in workers_of(crew)}
            found = [pid for pids in parents.values() for pid in pids]
            assert len(parents) == 2
            assert len(found) >= 1
            assert searching(crew.children()) == []
            assert await asyncio.to_thread(crew.stop) == 0
            await gone(found)
