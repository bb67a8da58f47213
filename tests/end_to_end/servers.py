"""The service as its users run it: a process of its own, found by the address that it prints."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.end_to_end.forked import Forked

LIMITS = {
    "TOWERHALL_LIMIT_COMMANDS": "1000/s burst 1000",
    "TOWERHALL_LIMIT_CONNECTIONS_PER_IP": "5000",
    "TOWERHALL_LIMIT_SOCKETS_PER_IP": "5000",
    "TOWERHALL_LIMIT_SOCKETS_PER_IDENTITY": "1000",
    "TOWERHALL_LIMIT_ROOMS_PER_IDENTITY": "1000/s burst 1000",
    "TOWERHALL_LIMIT_ROOMS_PER_IP": "1000/s burst 1000",
    "TOWERHALL_LIMIT_GUESTS_PER_IP": "1000/s burst 1000",
    "TOWERHALL_LIMIT_BOTS_PER_IP": "1000/s burst 1000",
    "TOWERHALL_LIMIT_INVITATIONS_PER_IDENTITY": "1000/s burst 1000",
    "TOWERHALL_LIMIT_GETS_PER_IP": "1000/s burst 1000",
    "TOWERHALL_LIMIT_WATCHER_CHAT": "1000/s burst 1000",
    "TOWERHALL_LIMIT_WATCHER_CHAT_PER_ROOM": "1000/s burst 1000",
    "TOWERHALL_LIMIT_REVOCATIONS_PER_IP": "1000/s burst 1000",
}
"""Tests are faster than people."""


class ServerProcess:
    """One `towerhall serve` that can be killed and started again on the same port and data."""

    module = "towerhall_server"

    def __init__(self, data_folder: Path, *flags: str, limits: dict[str, str] | None = None):
        self._data_folder = data_folder
        self._flags = flags
        self._limits = LIMITS if limits is None else limits
        self._process: Forked | None = None
        self._log = data_folder.parent / f"{data_folder.name}.log"
        self.port = 0
        self.url = ""

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        return self._log.read_text()

    def start(self) -> None:
        flags = ["serve", "--port", str(self.port), "--data-folder", str(self._data_folder)]
        kept = ("PATH", "HOME", "PYTHONPATH")
        environ = {name: os.environ[name] for name in kept if name in os.environ}
        self._process = Forked(
            self.module, [*flags, *self._flags], environ | self._limits, self._log
        )
        found = re.search(r"http://[^ ]+:(\d+)/", self._process.stdout.readline())
        if not found:
            self.kill()
            raise AssertionError(f"the server did not start: {self.log}")
        self.port, self.url = int(found[1]), found[0]

    def kill(self) -> None:
        """As a power cut would, for this process alone."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    def stop(self) -> int:
        """As an operator would; its exit status."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(30)

    def children(self) -> list[int]:
        """The processes that it has started and that are listed at this moment."""
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.pid)],
            capture_output=True,
            text=True,
            check=False,  # `ps` fails where it has nothing to list
        )
        return [int(pid) for pid in listed.stdout.split()]

    def engine_pid(self) -> int:
        """The process of its embedded store."""
        (pid,) = self.children()
        return pid


@contextmanager
def running(
    data_folder: Path,
    *flags: str,
    limits: dict[str, str] | None = None,
    kind: type[ServerProcess] = ServerProcess,
) -> Iterator[ServerProcess]:
    server = kind(data_folder, *flags, limits=limits)
    server.start()
    try:
        yield server
    finally:
        with suppress(ProcessLookupError, AssertionError):
            server.kill()
