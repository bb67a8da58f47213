"""Servers to be measured, each a process of its own on a core of its own.

A server is started as its users start it: Towerhall with its embedded store on a fresh data folder
and fsync always, only with limits that do not stop a load that comes from one address.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.bench.usage import allow_many_sockets, children, cores, pin

AT = re.compile(r" at http://([^/]+)/")
STOP_SECONDS = 30.0
NO_LIMIT = "100000000/s"
LIMITS = {
    "TOWERHALL_LIMIT_COMMANDS": NO_LIMIT,
    "TOWERHALL_LIMIT_ROOMS_PER_IDENTITY": NO_LIMIT,
    "TOWERHALL_LIMIT_ROOMS_PER_IP": NO_LIMIT,
    "TOWERHALL_LIMIT_GUESTS_PER_IP": NO_LIMIT,
    "TOWERHALL_LIMIT_SOCKETS_PER_IP": "1000000",
    "TOWERHALL_LIMIT_SOCKETS_PER_IDENTITY": "1000000",
}
"""The load comes from one address and as fast as it can; every other setting is the default."""


ROOT = Path(__file__).resolve().parents[2]


class Server(msgspec.Struct, frozen=True):
    """One that runs."""

    address: str
    pid: int
    store_pid: int | None = None


def environment() -> dict[str, str]:
    """This one without what would slow a child down, as tests do, or change its settings."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TOWERHALL_") and name != "PYTHONASYNCIODEBUG"
    }


@contextmanager
def baseline(frame: bytes) -> Iterator[Server]:
    """The server that only fans out, for the time of a `with` block."""
    with _running(["-m", "tests.bench.baseline", frame.hex()], {}) as server:
        yield server


@contextmanager
def towerhall() -> Iterator[Server]:
    """`towerhall serve` with an empty store. Its engine shares the core of the load client."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "towerhall_server", "serve", "--port", "0", "--data-folder", folder]
        with _running([*command, "--log-level", "warning"], LIMITS) as server:
            (store_pid,) = children(server.pid)
            pin(store_pid, cores()[1])
            yield Server(server.address, server.pid, store_pid)


@contextmanager
def _running(arguments: list[str], variables: dict[str, str]) -> Iterator[Server]:
    allow_many_sockets()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=environment() | variables,
        cwd=ROOT,
    )
    try:
        pin(process.pid, cores()[0])
        assert process.stdout is not None
        found = AT.search(process.stdout.readline())
        if found is None:
            raise RuntimeError(f"{' '.join(arguments[:3])} did not start: see above")
        yield Server(found[1], process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
