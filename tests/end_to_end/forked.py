"""`python -m` for tests that start many servers, without importing everything anew each time.

Each process is forked from one that has imported the server and done nothing else. From there on it
is a process like any other: it has its own arguments, environment, output and data, and can be
killed. What starting means to users is tried elsewhere, with a Python of its own.
"""

import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

IMPORTED: Final = (
    "towerhall_server.app",
    "towerhall_server.cli.main",
    "towerhall_server.cli.serve",
    "uvloop",
)

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(list(IMPORTED))


class Forked:
    """One process, with what it prints."""

    def __init__(
        self, module: str, arguments: Sequence[str], environ: Mapping[str, str], log: Path
    ) -> None:
        reader, writer = _forks.Pipe(duplex=False)
        arrangement = (module, [*arguments], dict(environ), str(log), writer)
        self._process = _forks.Process(target=_run, args=arrangement)
        self._process.start()
        writer.close()
        self.stdout = os.fdopen(os.dup(reader.fileno()))
        reader.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def wait(self, seconds: float) -> int:
        """Its exit status, as soon as it has ended."""
        self._process.join(seconds)
        status = self._process.exitcode
        assert status is not None, f"{self.pid} does not end"
        self.stdout.close()
        return status


def _run(
    module: str, arguments: list[str], environ: dict[str, str], log: str, output: Connection
) -> None:
    os.dup2(output.fileno(), sys.stdout.fileno())
    output.close()
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), sys.stderr.fileno())
    os.environ.clear()
    os.environ.update(environ)
    sys.argv[1:] = arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)
