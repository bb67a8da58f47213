"""The embedded engine: what ends with whom, and what does not."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.store.processes import (
    eventually,
    get,
    is_running,
    pretender,
    put,
    refusal,
    server,
)
from towerhall_server.store import engine as embedded
from towerhall_server.store.engine import EngineError, embedded_engine, start_engine

pytestmark = pytest.mark.usefixtures("temporary")


async def test_a_killed_server_takes_its_engine_along(tmp_path: Path) -> None:
    async with server(tmp_path) as (process, engine_pid):
        assert is_running(engine_pid)
        process.kill()
        await process.wait()
        await eventually(lambda: not is_running(engine_pid))
    async with embedded_engine(tmp_path):
        pass


async def test_the_next_server_may_start_in_the_moment_of_a_kill(tmp_path: Path) -> None:
    for _ in range(5):
        async with server(tmp_path) as (process, _engine_pid):
            process.kill()
            await process.wait()
    async with embedded_engine(tmp_path):
        pass


async def test_ctrl_c_reaches_the_server_and_not_its_engine(tmp_path: Path) -> None:
    async with server(tmp_path) as (process, engine_pid):
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout
        assert await process.stdout.readline() == b"interrupted\n"
        await asyncio.sleep(0.5)
        assert is_running(engine_pid)
        await process.communicate(b"\n")
        assert process.returncode == 0
        assert not is_running(engine_pid)


async def test_an_orphan_is_ended_and_its_data_taken_over(tmp_path: Path) -> None:
    """As on systems where the kernel does not end the engine of a killed server."""
    async with server(tmp_path, "orphan") as (process, engine_pid):
        process.kill()
        await process.wait()
        assert is_running(engine_pid)
        async with embedded_engine(tmp_path) as engine:
            assert not is_running(engine_pid)
            assert engine.pid != engine_pid


async def test_an_orphan_that_does_not_end_keeps_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "ORPHAN_SECONDS", 0.5)
    monkeypatch.setattr(embedded, "ANSWER_SECONDS", 0.2)
    async with server(tmp_path, "orphan") as (process, engine_pid):
        process.kill()
        await process.wait()
        os.kill(engine_pid, signal.SIGSTOP)
        assert f"is in use by process {process.pid} on" in await refusal(tmp_path)
        os.kill(engine_pid, signal.SIGKILL)
        async with embedded_engine(tmp_path):
            pass


async def test_an_engine_that_does_not_end_is_ended_by_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "STOP_SECONDS", 0.3)
    async with embedded_engine(tmp_path) as engine:
        assert engine.pid
        pid = engine.pid
        os.kill(pid, signal.SIGSTOP)
    assert not is_running(pid)


async def test_a_restart_ends_what_still_runs(tmp_path: Path) -> None:
    async with embedded_engine(tmp_path) as engine:
        assert engine.pid
        first = engine.pid
        await put(engine, "a", "kept")
        await engine.restart()
        assert not is_running(first)
        assert await get(engine, "a") == b"kept"


async def test_a_start_that_is_given_up_leaves_nothing_running(tmp_path: Path) -> None:
    stuck = pretender(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    starting = asyncio.create_task(start_engine(tmp_path / "data", binary=stuck))
    await eventually((tmp_path / "pid").exists)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not is_running(int(await asyncio.to_thread((tmp_path / "pid").read_text)))


async def test_a_stop_may_be_repeated_and_is_final(tmp_path: Path) -> None:
    engine = await start_engine(tmp_path)
    await engine.stop()
    await engine.stop()
    with pytest.raises(EngineError, match="start another one"):
        await engine.restart()
