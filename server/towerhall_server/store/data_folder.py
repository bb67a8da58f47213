"""The folder of an embedded engine: its lock, its signature, its log.

The engine's own files belong to the engine. No process is started, signalled or waited for here;
`engine` does that.
"""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

import msgspec

Record = TypeVar("Record")

LOCK: Final = "engine.lock"
MARKER: Final = "engine.version"
LOG: Final = "engine.log"
OLD_LOG: Final = "engine.log.old"
ENGINE_FILES: Final = "appendonlydir"

LOG_TAIL_BYTES: Final = 8192
LOG_TAIL_LINES: Final = 12


class EngineError(Exception):
    """The embedded engine cannot run; the message says why and how to fix it."""


class Version(msgspec.Struct, frozen=True):
    """An engine's name and version, by its own words and by the folder's signature."""

    name: str
    number: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name} {'.'.join(map(str, self.number))}"


class LockOwner(msgspec.Struct, frozen=True):
    """The process that locked a data folder, and the socket of its engine."""

    host: str
    pid: int
    socket: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    def may_live(self) -> bool:
        """False only if the server is surely dead. The state of other machines is unknown."""
        if self.host != socket.gethostname():
            return True
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


class FolderInUse(Exception):  # noqa: N818 - an answer; `embedded` decides if it is an error
    """The folder is locked by this holder, as far as is known."""

    def __init__(self, holder: LockOwner | None) -> None:
        super().__init__(f"in use by {holder or 'an unknown process'}")
        self.holder = holder


class DataFolder:
    """A data folder that this process has locked. Made by `lock_folder`."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.lock: int | None = lock
        """The descriptor that holds the lock; the engine inherits it."""

    def claim(self, version: Version) -> None:
        """Refuse data of a newer or a foreign engine, then sign the folder for this one."""
        marker = self.path / MARKER
        with _usable(self.path):
            writer = _decode(_content(marker), Version)
            if writer is None and (marker.exists() or (self.path / ENGINE_FILES).exists()):
                raise EngineError(
                    f"{self.path} holds data of an unknown engine, and {version} might take it for"
                    f" none: restore {marker} from a copy, or choose another data folder"
                )
            if writer and (writer.name != version.name or writer.number > version.number):
                cure = (
                    "update towerhall[server]"
                    if writer.name == version.name
                    else f"run a {writer.name} on it and give its --redis-url"
                )
                raise EngineError(
                    f"the data in {self.path} was written by {writer}, and {version} might take it"
                    f" for none: {cure}, or choose another data folder"
                )
            if writer != version:
                _write_durably(marker, msgspec.json.encode(version))

    def new_log(self) -> int:
        """Open an empty log. The log of the last run is kept: it may say why that run ended."""
        with _usable(self.path):
            with suppress(FileNotFoundError):
                (self.path / LOG).replace(self.path / OLD_LOG)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            return os.open(self.path / LOG, flags, 0o600)

    def last_log_lines(self) -> str:
        """Return the end of the log, for people."""
        tail = _content(self.path / LOG)[-LOG_TAIL_BYTES:].decode(errors="replace")
        lines = [line for line in tail.splitlines() if line.strip()]
        return "\n".join(lines[-LOG_TAIL_LINES:]) or "(its log is empty)"

    def release(self) -> None:
        """Unlock the folder; the engine must have ended. Idempotent."""
        if self.lock is not None:
            # Explicitly, because a background child of a killed engine may still have the
            # descriptor.
            fcntl.flock(self.lock, fcntl.LOCK_UN)
            os.close(self.lock)
            self.lock = None


def lock_folder(path: Path, socket_path: Path) -> DataFolder:
    """Create the folder if needed and lock it, or raise `FolderInUse`."""
    absolute = path.absolute()
    with _usable(absolute):
        absolute.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(absolute / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            before = _take(lock)
            if before:
                _remove_remains(Path(before.socket))
            me = LockOwner(socket.gethostname(), os.getpid(), str(socket_path))
            os.ftruncate(lock, 0)
            os.pwrite(lock, msgspec.json.encode(me), 0)
        except BaseException:
            os.close(lock)
            raise
    return DataFolder(absolute, lock)


def socket_of_engine(path: Path) -> str:
    """Return the socket of the engine that a server runs on this folder; it may be dead. Nothing is
    created or locked."""
    absolute = path.absolute()
    with _usable(absolute):
        holder = _decode(_content(absolute / LOCK), LockOwner)
    cure = "start one with `towerhall serve`, name its --data-folder, or give a --redis-url"
    if holder is None:
        raise EngineError(f"no server runs on the data folder {absolute}: {cure}")
    if holder.host != socket.gethostname():
        raise EngineError(
            f"the store in {absolute} belongs to {holder}: it can be asked only there"
        )
    if not holder.may_live() or not Path(holder.socket).exists():
        raise EngineError(f"the server on the data folder {absolute} has ended: {cure}")
    return holder.socket


def _take(lock: int) -> LockOwner | None:
    """Lock the file, which still names the last holder."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FolderInUse(_decode(os.pread(lock, 4096, 0), LockOwner)) from None
    return _decode(os.pread(lock, 4096, 0), LockOwner)


def _remove_remains(socket_path: Path) -> None:
    """Remove the temporary folder of a killed server; a stopped server left none."""
    with suppress(OSError):
        socket_path.unlink(missing_ok=True)
        socket_path.parent.rmdir()


@contextmanager
def _usable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EngineError(
            f"the data folder {path} cannot be used ({error.strerror}): make it a folder on a"
            " local disk with room, which this user may write to, or choose another"
        ) from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _decode(content: bytes, kind: type[Record]) -> Record | None:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError:
        return None


def _write_durably(path: Path, content: bytes) -> None:
    """Write a file atomically: a power cut leaves the old content or the new one."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
