"""Several server processes on one port: started, watched, replaced when they die, ended.

The kernel hands each new connection to one of them. They share only the store, so they are nodes
like any others. A dead worker loses only its own connections; clients reconnect to the same port
and reach another worker. When the watching process dies, its workers end by themselves.
"""

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Protocol

import msgspec
import uvloop

from towerhall_server.config.settings import ServerSettings
from towerhall_server.telemetry.logs import set_up_logs

logger = logging.getLogger(__name__)

REPLACE_SECONDS: Final = 1.0
END_SECONDS: Final = 10.0
"""Seconds that a worker may take beyond the time that connections have to end."""
ORPHAN_SECONDS: Final = 0.5
BACKLOG: Final = 2048
_processes = multiprocessing.get_context("spawn")


class WorkerError(Exception):
    """The workers cannot serve; the log says why."""


class Serve(Protocol):
    """Runs a server until it is told to stop."""

    def __call__(
        self,
        settings: ServerSettings,
        announce: Callable[[str], None],
        listening: socket.socket | None,
    ) -> Coroutine[Any, Any, None]: ...


@contextmanager
def reserved_port(host: str, port: int) -> Iterator[int]:
    """Reserve the port of the workers. No connection is accepted here."""
    try:
        reserved = _bound(host, port)
    except OSError as error:
        raise WorkerError(f"cannot listen at {host}, port {port}: {error}") from error
    with reserved:
        yield reserved.getsockname()[1]


def _bound(host: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind((host, port))
    except BaseException:
        bound.close()
        raise
    return bound


class Crew:
    """All workers of one port."""

    def __init__(self, count: int, serve: Serve, settings: ServerSettings) -> None:
        self._work = [(serve, _settings_of(settings, number)) for number in range(count)]
        self._patience = settings.drain_seconds + END_SECONDS
        self._stop = asyncio.Event()

    async def run(self, announce: Callable[[], None]) -> None:
        """Keep all workers running until SIGINT or SIGTERM. `announce` is called when all serve."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop.set)
        places = [_Place(work, self._stop, self._patience) for work in self._work]
        keeping = [asyncio.create_task(place.keep()) for place in places]
        everybody = asyncio.create_task(_all_set([place.is_open for place in places]))
        try:
            await asyncio.wait((everybody, *keeping), return_when=asyncio.FIRST_COMPLETED)
            if everybody.done() and not self._stop.is_set():
                announce()
            await asyncio.gather(*keeping)
        finally:
            everybody.cancel()
            self._stop.set()
            await asyncio.gather(*keeping, return_exceptions=True)


async def _all_set(events: list[asyncio.Event]) -> None:
    for event in events:
        await event.wait()


def _settings_of(settings: ServerSettings, number: int) -> ServerSettings:
    """The settings of one worker. Each shows its own metrics at a port of its own."""
    port = settings.metrics_port
    return msgspec.structs.replace(settings, metrics_port=port + number if port else 0)


class _Place:
    """The place of one worker, and of its replacements."""

    def __init__(
        self, work: tuple[Serve, ServerSettings], stop: asyncio.Event, patience: float
    ) -> None:
        self._work = work
        self._stop = stop
        self._patience = patience
        self.is_open = asyncio.Event()

    async def keep(self) -> None:
        while not self._stop.is_set():
            process = await self._employ()
            if self._stop.is_set():
                return
            if not self.is_open.is_set():
                raise WorkerError("a worker could not start: see above")
            logger.error("worker %d ended by %s and is replaced", process.pid, process.exitcode)
            await asyncio.sleep(REPLACE_SECONDS)

    async def _employ(self) -> SpawnProcess:
        """Run one worker from start to end."""
        here, there = _processes.Pipe(duplex=False)
        process = _processes.Process(target=_work, args=(there, os.getpid(), *self._work))
        process.start()
        there.close()
        loop = asyncio.get_running_loop()
        loop.add_reader(here.fileno(), self._hear, here)
        ended = asyncio.Event()
        loop.add_reader(process.sentinel, ended.set)
        stopped = asyncio.create_task(self._stop.wait())
        over = asyncio.create_task(ended.wait())
        try:
            await asyncio.wait((stopped, over), return_when=asyncio.FIRST_COMPLETED)
            if not ended.is_set():
                process.terminate()
                await asyncio.wait((over,), timeout=self._patience)
            if not ended.is_set():
                logger.error("worker %d does not end and is killed", process.pid)
                process.kill()
                await over
        finally:
            stopped.cancel()
            over.cancel()
            loop.remove_reader(process.sentinel)
            loop.remove_reader(here.fileno())
            here.close()
            process.join()
        return process

    def _hear(self, worker: Connection) -> None:
        """A worker writes one word to its pipe: that it serves."""
        asyncio.get_running_loop().remove_reader(worker.fileno())
        try:
            worker.recv_bytes()
        except EOFError:
            return
        self.is_open.set()


def _work(ready: Connection, watcher: int, serve: Serve, settings: ServerSettings) -> None:
    """The main function of a worker: the same as a lone server."""
    set_up_logs(settings.log_format, settings.log_level)

    async def work() -> None:
        orphaned = asyncio.create_task(_leave_with(watcher))
        with _bound(settings.host, settings.port) as listening:
            await serve(settings, lambda _: ready.send_bytes(b"ready"), listening)
        orphaned.cancel()

    try:
        uvloop.run(work())
    except Exception as error:
        logger.exception("a worker failed")
        raise SystemExit(1) from error


async def _leave_with(watcher: int) -> None:
    """End this worker when the watching process has died."""
    while os.getppid() == watcher:  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(ORPHAN_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
