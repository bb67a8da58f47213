"""`towerhall serve --workers`: several processes at one port are one service."""

import asyncio
import os
import random
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.end_to_end.games import QUICK, disturb, play_out, seated
from tests.end_to_end.servers import ServerProcess, running
from tests.end_to_end.test_survival import Witness, check_log
from towerhall_client.connection import Table, connect
from towerhall_client.http import Service

WORKERS = 2


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[ServerProcess]:
    with running(tmp_path / "data", "--workers", str(WORKERS)) as process:
        yield process


def workers_of(server: ServerProcess) -> list[int]:
    """The processes that listen at the port of the service; the store is another child."""
    return [pid for pid in server.children() if "spawn_main" in command_of(pid)]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except FileNotFoundError:
        return ""


def is_there(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


async def gone(pids: list[int]) -> None:
    async with asyncio.timeout(20):
        while any(map(is_there, pids)):  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.05)


async def test_a_game_goes_on_while_workers_die_and_are_replaced(crew: ServerProcess) -> None:
    killed = []

    async def kill_one() -> None:
        if alive := workers_of(crew):
            killed.append(random.choice(alive))
            os.kill(killed[-1], signal.SIGKILL)

    assert len(workers_of(crew)) == WORKERS
    async with seated(Service(crew.url), 4) as (_, tables):
        witnesses = [Witness(table) for table in tables]
        await tables[0].start()
        views = await disturb(play_out(tables), tables, kill_one, every=20)
        assert len(killed) >= 2
        assert all(view == views[0] for view in views)
        await check_log(tables[0], witnesses)
        for witness in witnesses:
            witness.stop()
    async with asyncio.timeout(20):
        while len(workers_of(crew)) < WORKERS:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.1)


async def test_watchers_at_different_workers_see_and_count_the_same(crew: ServerProcess) -> None:
    service = Service(crew.url)
    async with seated(service, 2) as (room, tables):
        eve = await service.guest("eve")
        async with AsyncExitStack() as stack:
            watchers = [
                await stack.enter_async_context(
                    connect(crew.url, room.code, eve.token, retry=QUICK)
                )
                for _ in range(8)
            ]
            for table in (*tables, *watchers):
                await table.until(partial(_counts, table, 8))
            await tables[0].start()
            views = await play_out(tables)
            for watcher in watchers:
                await watcher.until(partial(_is_at, watcher, tables[0].seq))
                assert watcher.view == views[0]


def _counts(table: Table, watchers: int) -> bool:
    return table.replay.watchers == watchers


def _is_at(table: Table, seq: int) -> bool:
    return table.seq == seq


async def test_all_end_when_they_are_told_to(crew: ServerProcess) -> None:
    workers = workers_of(crew)
    assert await asyncio.to_thread(crew.stop) == 0
    await gone(workers)


async def test_workers_do_not_outlive_who_watches_them(crew: ServerProcess) -> None:
    workers = workers_of(crew)
    crew.kill()
    await gone(workers)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with running(tmp_path / "data") as first:
        second = ServerProcess(tmp_path / "more", "--workers", "2")
        second.port = first.port
        with pytest.raises(AssertionError, match="cannot listen at"):
            second.start()
