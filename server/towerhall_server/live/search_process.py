"""A search process: a child of the server that does one job after the other, at low priority.

`SearchProcess` is the server's end, `main` the child's. Jobs and answers go through the child's
standard streams, each with its length in front. The child is a fresh interpreter: it inherits no
socket, lock or thread, and imports the games only.

Failure cases:

- The server ends, or is killed. The child reads the end of its stream when it is idle; on Linux the
  kernel also kills it at once when the thread that started it ends.
- Ctrl-C and a service manager's SIGTERM go to all processes. The child ignores both: the server
  needs its searches until the last room has ended, and kills the child then.
- The child dies, or does not answer in `ANSWER_SECONDS`. `do` raises `WorkerLostError`.
- A game prints something. The child's standard output is redirected to its standard error first.

The child has no session of its own: Linux compares niceness only within a session's processes.
"""

import asyncio
import ctypes
import os
import platform
import signal
import sys
import traceback
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

from towerhall_server.game import AnyGame, rules_of
from towerhall_server.live.searches import WorkerLostError
from towerhall_server.room.search import (
    Job,
    JobAnswer,
    do_job,
    pack_answer,
    pack_fault,
    pack_job,
    unpack_answer,
    unpack_job,
)

DISCOVERED: Final = "towerhall_server.game:discover"
"""The function, as `module:name`, that finds all games in the child."""
ANSWER_SECONDS: Final = 60.0
"""Seconds for one job, after which the process counts as lost."""
NICENESS: Final = 10
LENGTH_BYTES: Final = 4
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Numeric libraries would start a thread for each core."""
CHILD: Final = """\
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
from towerhall_server.live.search_process import main
main()
"""


class SearchProcess:
    """The server's end of one search process. Made by `start_search_process`."""

    def __init__(self, process: Process, writer: StreamWriter, reader: StreamReader) -> None:
        self._process = process
        self._writer = writer
        self._reader = reader

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def do(self, job: Job) -> JobAnswer:
        data = pack_job(job)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                self._writer.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
                await self._writer.drain()
                length = await self._reader.readexactly(LENGTH_BYTES)
                answer = await self._reader.readexactly(int.from_bytes(length, "big"))
        except (OSError, EOFError, TimeoutError) as error:
            raise WorkerLostError(f"process {self.pid}: {type(error).__name__}") from error
        return unpack_answer(answer, job.rules)

    async def close(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        # Reading to the end and then waiting leaves no open transport behind.
        self._writer.close()
        await self._reader.read()
        await self._process.wait()


async def start_search_process(games: str = DISCOVERED) -> SearchProcess:
    """Start a child that finds its games by that function. Call this from a thread that lives as
    long as the server: see `restart` in `eventlog.embedded`."""
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-c",
            CHILD,
            str(os.getpid()),
            games,
            stdin=PIPE,
            stdout=PIPE,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": _python_path()},
        )
    except OSError as error:
        raise WorkerLostError(f"no process could be started: {error}") from error
    if process.stdin is None or process.stdout is None:
        raise WorkerLostError("a process was started without its streams")
    return SearchProcess(process, process.stdin, process.stdout)


def _python_path() -> str:
    """Where the child finds the same modules. An empty entry means the current folder."""
    return os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)


def main() -> None:
    """The work of the child until its standard input ends."""
    server, games = int(sys.argv[1]), sys.argv[2]
    _die_with(server)
    os.nice(NICENESS)
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, name = games.partition(":")
    found: Mapping[str, AnyGame] = getattr(import_module(module), name)()
    find = partial(rules_of, found)
    with suppress(BrokenPipeError):
        while head := jobs.read(LENGTH_BYTES):
            answer = _answer(jobs.read(int.from_bytes(head, "big")), find)
            answers.write(len(answer).to_bytes(LENGTH_BYTES, "big") + answer)
            answers.flush()


def _answer(data: bytes, find: Callable[[str, int], AnyGame]) -> bytes:
    try:
        return pack_answer(do_job(unpack_job(data, find)))
    except Exception:  # noqa: BLE001 - the server logs it, and answers the sender
        return pack_fault(traceback.format_exc())


def _die_with(server: int) -> None:
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != server:
        sys.exit("the server is gone")
