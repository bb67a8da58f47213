"""What a stranger repeats does not grow the memory of a server, whatever it is."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.end_to_end.raw import ask
from tests.end_to_end.servers import LIMITS, running
from tests.end_to_end.strangers import ACTS, flood
from tests.examples import examples

EACH: Final = examples(800, 1_000_000 // len(ACTS) + 1)
WARM: Final = 100
MOST_KB: Final = examples(15_000, 20_000)
PATIENCE: Final = examples(60, 3600)


def resident_kb(pid: int) -> int:
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True
    )
    return int(told.stdout)


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
