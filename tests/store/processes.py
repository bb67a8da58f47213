"""Processes and files for tests of the embedded engine: servers to kill, engines that misbehave."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tests.store.engines import client
from towerhall_server.store.engine import EmbeddedEngine, EngineError, start_engine

PATIENCE_SECONDS = 20.0

# A server of its own: it tells its engine's process id, and stops when interrupted and told to.
SERVER = """
import asyncio, signal, sys
from pathlib import Path
from towerhall_server.store import engine as embedded

async def main():
    async with embedded.embedded_engine(Path(sys.argv[1])) as engine:
        print(engine.pid, flush=True)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            print("interrupted", flush=True)
            sys.stdin.readline()

# Shells start what runs in the background deaf to Ctrl-C, and that is inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv[2] == "orphan":
    embedded._launcher = tuple
try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
"""

# An engine as far as its version goes.
PRETENDER = """\
#!/bin/sh
[ "$1" = --version ] && {{ echo "Valkey server v=9.1.2 sha=0"; exit; }}
{behaviour}
"""


async def put(engine: EmbeddedEngine, key: str, value: str) -> None:
    async with client(engine.url) as connected:
        await connected.set(key, value)


async def get(engine: EmbeddedEngine, key: str) -> bytes | str | None:
    async with client(engine.url) as connected:
        return await connected.get(key)


def kill(engine: EmbeddedEngine) -> None:
    assert engine.pid
    os.kill(engine.pid, signal.SIGKILL)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def eventually(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not happens():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.02)


@asynccontextmanager
async def server(data_folder: Path, kind: str = "linked") -> AsyncIterator[tuple[Process, int]]:
    """A server process that leads its group, and the id of its engine."""
    command = (sys.executable, "-c", SERVER, str(data_folder), kind)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, start_new_session=True
    )
    assert process.stdout
    engine_pid = int(await process.stdout.readline())
    try:
        yield process, engine_pid
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
        if kind == "orphan" and is_running(engine_pid):
            os.kill(engine_pid, signal.SIGKILL)


async def refusal(data_folder: Path, binary: Path | None = None, seconds: float = 30.0) -> str:
    """What is said about a start that must fail."""
    try:
        engine = await start_engine(data_folder, binary=binary, seconds=seconds)
    except EngineError as refused:
        return str(refused)
    await engine.stop()
    raise AssertionError("the engine started")


def pretender(folder: Path, behaviour: str) -> Path:
    path = folder / "pretender"
    path.write_text(PRETENDER.format(behaviour=behaviour))
    path.chmod(0o700)
    return path


def commands_file(data_folder: Path) -> Path:
    [path] = data_folder.glob("appendonlydir/*.incr.aof")
    return path


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def entries(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def content(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path, new: bytes | None) -> None:
    """Give a file that content, or remove it."""
    if new is None:
        path.unlink()
    else:
        path.write_bytes(new)


def edit(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))
