"""One ordinary move, traced on a running server: how many files it passes from receive to fan-out.

Each file on the way is one more to read for a newcomer, and one more call for every move.
"""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from typing import Final

import pytest

from tests.end_to_end.games import seated
from tests.end_to_end.servers import ServerProcess, running
from tests.end_to_end.traced_server import BEGUN, DONE, MARK, Call
from tests.store.processes import eventually
from towerhall_client.connection import Table
from towerhall_client.http import Service

MOVES: Final = 3
MOST_FILES: Final = 20
CROSSINGS: Final = 2
"""Calls between `live` and `eventlog`: one to ask, one to answer."""


class TracedServer(ServerProcess):
    module = "tests.end_to_end.traced_server"


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running(tmp_path_factory.mktemp("traced") / "data", kind=TracedServer) as server:
        yield server


def bids(table: Table) -> bool:
    return any(offer.command == "bid" for offer in table.offers)


async def sees(table: Table, seq: int) -> None:
    await table.until(lambda: table.seq >= seq)


async def bid(tables: list[Table]) -> None:
    """One more bid, which all tables see."""
    await eventually(lambda: any(map(bids, tables)))
    table = next(filter(bids, tables))
    offer = next(offer for offer in table.offers if offer.command == "bid")
    await table.send(next(iter(offer.commands())))
    await asyncio.gather(*(sees(each, table.seq) for each in tables))


async def traced_moves(server: ServerProcess) -> list[list[Call]]:
    """The calls of some bids, each until its last viewer."""
    async with seated(Service(server.url), 4) as (_, tables):
        await tables[0].start()
        await eventually(lambda: any(map(bids, tables)))
        os.kill(server.pid, signal.SIGUSR1)
        await eventually(lambda: BEGUN in server.log)
        for _ in range(MOVES):
            await bid(tables)
        os.kill(server.pid, signal.SIGUSR2)
        await eventually(lambda: DONE in server.log)
    lines = (line for line in server.log.splitlines() if line.startswith(MARK))
    return [[Call(*each) for each in json.loads(line.removeprefix(MARK))] for line in lines]


async def test_an_ordinary_move_passes_few_files_and_crosses_to_the_log_and_back(
    traced: ServerProcess,
) -> None:
    moves = await traced_moves(traced)
    assert len(moves) == MOVES
    # Whatever the server does besides happens in some moves only.
    passed = set.intersection(*({call.file for call in move} for move in moves))
    crossings = set.intersection(*(set(filter(is_crossing, move)) for move in moves))
    shown = "\n".join(sorted(passed))
    for call in sorted(crossings):
        shown += f"\n{call.caller} calls {call.function} of {call.file}"
    print(f"\n{len(passed)} files, {len(crossings)} crossings:\n{shown}")
    assert {"gateway/ws/socket.py", "live/inbox.py", "eventlog/append.py"} <= passed
    assert len(passed) <= MOST_FILES, shown
    assert len(crossings) == CROSSINGS, shown


def is_crossing(call: Call) -> bool:
    packages = {path.partition("/")[0] for path in (call.caller, call.file)}
    return packages == {"live", "eventlog"}
