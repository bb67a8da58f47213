"""Strangers cannot grow the memory of a server, whatever they repeat."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.end_to_end.raw import ask
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.end_to_end.strangers import ACTS, flood
from tests.end_to_end.uncollected_server import FOUND
from tests.examples import examples
from tests.store.processes import eventually

FEW: Final = 6
EACH: Final = examples(200, 1_000_000 // len(ACTS) + 1)
WARM: Final = 100
MOST_KB: Final = 20_000
PATIENCE: Final = examples(60, 3600)


def resident_kb(pid: int) -> int:
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True
    )
    return int(told.stdout)


class Uncollected(ServerProcess):
    module = "tests.end_to_end.uncollected_server"


class Garbage(NamedTuple):
    """A look at a server."""

    connections: int
    objects: int
    kinds: str


async def garbage_of(server: ServerProcess) -> Garbage:
    """The objects in cycles that nobody uses any more. The look takes them away."""
    before = server.log.count(FOUND)
    os.kill(server.pid, signal.SIGUSR1)
    await eventually(lambda: server.log.count(FOUND) > before)
    connections, objects, kinds = server.log.rpartition(FOUND)[2].split(" ", 2)
    return Garbage(int(connections), int(objects), kinds.strip())


async def garbage_of_ended(server: ServerProcess) -> set[str]:
    """The kinds of garbage, once all connections have ended."""
    found = [await garbage_of(server)]
    while found[-1].connections:
        await asyncio.sleep(0.02)
        found.append(await garbage_of(server))
    return {kind for each in found for kind in each.kinds.split(",") if kind}


@pytest.fixture(scope="module")
def uncollected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("uncollected") / "data"
    with running(folder, limits=LIMITS, kind=Uncollected) as server:
        yield server


@pytest.mark.parametrize("name", ACTS)
async def test_no_act_of_a_stranger_leaves_objects_in_cycles(
    uncollected: ServerProcess, name: str
) -> None:
    # The first acts fill caches.
    await flood(uncollected.port, ACTS[name], FEW)
    await garbage_of_ended(uncollected)
    await flood(uncollected.port, ACTS[name], FEW)
    assert await garbage_of_ended(uncollected) == set()


@pytest.mark.timeout(PATIENCE)
async def test_memory_does_not_grow_by_what_strangers_do(tmp_path: Path) -> None:
    with running(tmp_path / "data", limits=LIMITS) as server:
        for act in ACTS.values():
            await flood(server.port, act, WARM)
        before = resident_kb(server.pid)
        grown: dict[str, int] = {}
        for name, act in ACTS.items():
            start = resident_kb(server.pid)
            await flood(server.port, act, EACH)
            grown[name] = resident_kb(server.pid) - start
        print(f"{EACH * len(ACTS)} acts: {resident_kb(server.pid) - before} KB, by act: {grown}")
        assert resident_kb(server.pid) - before < MOST_KB, grown
        assert ask(server.url, "GET", "/healthz").status == 200
        assert "Traceback" not in server.log
