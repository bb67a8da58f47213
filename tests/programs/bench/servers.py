"""Servers to be measured, each a process of its own on a core of its own.

A server is started as its users start it: Towerhall with its embedded store on a fresh data folder
and fsync always, only with limits that do not stop a load that comes from one address.
"""

import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from tests.programs.bench.usage import allow_many_sockets, children, cores, pin
from tests.store import engines

AT = re.compile(r" at http://([^/]+)/")
STOP_SECONDS = 30.0
NO_LIMIT = "100000000/s"
LIMITS = {
    "TOWERHALL_LIMIT_COMMANDS": NO_LIMIT,
    "TOWERHALL_LIMIT_ROOMS_PER_IDENTITY": NO_LIMIT,
    "TOWERHALL_LIMIT_ROOMS_PER_IP": NO_LIMIT,
    "TOWERHALL_LIMIT_GUESTS_PER_IP": NO_LIMIT,
    "TOWERHALL_LIMIT_CONNECTIONS_PER_IP": "1000000",
    "TOWERHALL_LIMIT_SOCKETS_PER_IP": "1000000",
    "TOWERHALL_LIMIT_SOCKETS_PER_IDENTITY": "1000000",
}
"""The load comes from one address and as fast as it can; every other setting is the default."""


PYTHON = (sys.executable,)
ROOT = Path(__file__).resolve().parents[3]


class Server(msgspec.Struct, frozen=True):
    """One that runs, of one process or of several on the same store."""

    addresses: tuple[str, ...]
    pids: tuple[int, ...]
    store_pid: int | None = None
    store_url: str = ""
    """Of a store that the server did not bring along."""


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
    with running([*PYTHON, "-m", "tests.programs.bench.baseline", frame.hex()], {}) as server:
        yield server


@contextmanager
def towerhall(
    module: str = "towerhall_server", *, packages: Sequence[str] = ()
) -> Iterator[Server]:
    """`towerhall serve` with an empty store. Its engine shares the core of the load client.

    `packages` are folders of another checkout, whose server runs in place of this one.
    """
    variables = LIMITS | ({"PYTHONPATH": os.pathsep.join(packages)} if packages else {})
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", module, "serve", "--port", "0", "--data-folder", folder]
        with running([*PYTHON, *command, "--log-level", "warning"], variables) as server:
            (store_pid,) = children(*server.pids)
            pin(store_pid, cores()[1])
            yield Server(server.addresses, server.pids, store_pid)


@contextmanager
def towerhall_nodes(count: int) -> Iterator[Server]:
    """So many `towerhall serve` on one store, which is the same engine that one would bring along.

    The servers share a core, and the store shares that of the load.
    """
    variables = LIMITS | {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        engine = stack.enter_context(engines.running("valkey", Path(folder)))
        if engine.pid is None:
            raise RuntimeError("the store did not start")
        pin(engine.pid, cores()[1])
        command = [*PYTHON, "-m", "towerhall_server", "serve", "--port", "0"]
        command += ["--redis-url", engine.url]
        command += ["--log-level", "warning"]
        nodes = [stack.enter_context(running(command, variables)) for _ in range(count)]
        addresses = tuple(address for node in nodes for address in node.addresses)
        yield Server(addresses, tuple(pid for node in nodes for pid in node.pids), engine.pid)


@contextmanager
def running(command: Sequence[str], variables: dict[str, str]) -> Iterator[Server]:
    """A server that tells its address in its first line, on the core of servers."""
    allow_many_sockets()
    process = subprocess.Popen(
        command,
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
            raise RuntimeError(f"{' '.join(command[:3])} did not start: see above")
        yield Server((found[1],), (process.pid,))
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
