"""Driving a load process from here: the server on one core, the load and the store on another."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import TypeVar

import msgspec

from tests.programs.bench.load import Job, Kind, Ready, Step, Window
from tests.programs.bench.players import FIVE_TOWERS, Played
from tests.programs.bench.servers import ROOT, Server, environment
from tests.programs.bench.usage import allow_many_sockets, cores, pin

STOP_SECONDS = 10.0
OTHERS = 0.15
"""More than this share of a core for anything else, and there is no verdict."""
Answer = TypeVar("Answer")


class Driver:
    """A load with all its tables made."""

    def __init__(self, process: "subprocess.Popen[bytes]", job: Job) -> None:
        self._process = process
        self.ready = self._ask(job, Ready)

    def play(self, step: Step) -> Window:
        return self._ask(step, Window)

    def _ask(self, order: Job | Step, answer: type[Answer]) -> Answer:
        orders, answers = self._process.stdin, self._process.stdout
        assert orders is not None
        assert answers is not None
        orders.write(msgspec.json.encode(order) + b"\n")
        orders.flush()
        line = answers.readline()
        if not line:
            raise RuntimeError("the load has ended: see above")
        return msgspec.json.decode(line, type=answer)


@contextmanager
def driven(
    server: Server,
    rooms: int,
    *,
    spares: int = 0,
    command: bytes = b"",
    mixed: bool = False,
    kind: Kind | None = None,
    played: Played = FIVE_TOWERS,
    **more: int,
) -> Iterator[Driver]:
    """A load on a server, for the time of a `with` block."""
    allow_many_sockets()
    job = Job(
        kind=kind or ("towerhall" if server.store_pid else "baseline"),
        addresses=server.addresses,
        server_pids=server.pids,
        store_pid=server.store_pid,
        rooms=rooms,
        spares=spares,
        command=command,
        mixed=mixed,
        played=played,
        **more,
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.programs.bench.load"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    )
    try:
        pin(process.pid, cores()[1])
        yield Driver(process, job)
    finally:
        try:
            process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def spares_for(moves: int) -> int:
    """Tables that are enough for so many moves after games were spread: none has fewer than 100."""
    return 5 + moves // 110


def disturbed(windows: Sequence[Window]) -> str:
    """Whether something else ran on this machine: it takes time, and what is in the caches."""
    others = median(window.others_cpu / window.seconds for window in windows)
    return f"something else took {others:.0%} of a core meanwhile" if others > OTHERS else ""
