"""What is acknowledged survives: the server is killed, the store is killed, everybody plays on."""

import asyncio
import os
import signal

import pytest

from tests.end_to_end.games import disturb, play_out, seated
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import Disconnected, Table
from towerhall_client.http import Service
from towerhall_protocol import updates as u


class Witness:
    """Notes every acknowledged command of a table, with its seq, and every break of its line."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.answered: dict[int, int] = {}
        self.lost = 0
        self.drops = 0
        self._updates = aiter(table)
        self._task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        async for update in self._updates:
            if isinstance(update, u.Answered):
                self.answered[update.n] = update.seq
            elif isinstance(update, u.Synced | u.Reset):
                self.lost += update.lost
            elif isinstance(update, Disconnected):
                self.drops += 1

    def stop(self) -> None:
        self._task.cancel()


async def check_log(table: Table, witnesses: list[Witness]) -> None:
    """Every acknowledged command is in the log, at its seq, once."""
    frames = await table.history()
    assert [frame.seq for frame in frames] == list(range(1, table.seq + 1))
    causes = [(frame.cause, frame.seq) for frame in frames if len(frame.cause) == 3]
    assert len({cause[1:] for cause, _ in causes}) == len(causes), "a command was done twice"
    done = {(cause[1], cause[2]): seq for cause, seq in causes}
    for witness in witnesses:
        assert witness.lost == 0
        assert witness.answered
        for n, seq in witness.answered.items():
            assert done[witness.table.replay.origin, n] == seq


@pytest.mark.parametrize("subprotocol", ["towerhall.v1.msgpack", "towerhall.v1.json"])
async def test_a_server_killed_in_mid_game_loses_nothing_and_clients_resume_by_themselves(
    server: ServerProcess, subprotocol: str
) -> None:
    service = Service(server.url)

    async def kill_and_start() -> None:
        server.kill()
        await asyncio.to_thread(server.start)

    async with seated(service, 3, bots=["easy"], subprotocol=subprotocol, bot_delay_ms=0) as made:
        _, tables = made
        witnesses = [Witness(table) for table in tables]
        await tables[0].start()
        views = await disturb(play_out(tables), tables, kill_and_start, every=20)
        assert all(witness.drops > 0 for witness in witnesses)
        assert all(view == views[0] for view in views)
        await check_log(tables[0], witnesses)
        for table in tables:
            assert table.replay.view_at(table.seq) == table.view
        for witness in witnesses:
            witness.stop()


async def test_a_store_killed_in_mid_game_loses_nothing_and_no_connection(
    server: ServerProcess,
) -> None:
    service = Service(server.url)
    kills = 0

    async def kill_the_store() -> None:
        nonlocal kills
        killed = server.engine_pid()
        os.kill(killed, signal.SIGKILL)
        kills += 1
        async with asyncio.timeout(20):
            while server.children() in ([killed], []):  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(0.05)

    async with seated(service, 4) as (_, tables):
        witnesses = [Witness(table) for table in tables]
        await tables[0].start()
        views = await disturb(play_out(tables), tables, kill_the_store, every=20)
        assert kills >= 2
        assert [witness.drops for witness in witnesses] == [0, 0, 0, 0]
        assert all(view == views[0] for view in views)
        await check_log(tables[0], witnesses)
        for witness in witnesses:
            witness.stop()


async def test_a_server_that_is_asked_to_stop_sends_its_clients_elsewhere_and_ends(
    server: ServerProcess,
) -> None:
    async with seated(Service(server.url), 2) as (_, tables):
        await tables[0].start()
        playing = asyncio.ensure_future(play_out(tables))
        await tables[0].until(lambda: tables[0].seq > 15)
        assert await asyncio.to_thread(server.stop) == 0
        await asyncio.to_thread(server.start)
        views = await playing
        assert views[0] == views[1]
