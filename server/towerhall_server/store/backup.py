"""Copies of a store's data, as folders that an embedded engine can run on.

An engine's files are opened together, as its manifest lists them, and then copied. An open file
stays readable after the engine has replaced and removed it, so rewriting need not be paused. The
last file may grow meanwhile: the copy holds a beginning of it, and the engine drops half a command
at its end. A store elsewhere sends its data as to a replica, as one RDB file. An engine with
`appendonly yes` ignores an RDB file beside its log and starts empty. Therefore the file becomes the
base of a log here.

Nothing here may know rooms or the meaning of a key.
"""

import asyncio
import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from towerhall_server.store.data_folder import ENGINE_FILES, MARKER, Version
from towerhall_server.store.endpoint import endpoint

MANIFEST: Final = "appendonly.aof.manifest"
BASE: Final = "appendonly.aof.1.base.rdb"
REST: Final = "appendonly.aof.1.incr.aof"
LOG_OF_RDB: Final = f"file {BASE} seq 1 type b\nfile {REST} seq 1 type i\n"
ATTEMPTS: Final = 50
CHUNK: Final = 1 << 20
SYNC_SECONDS: Final = 600.0
"""Timeout for one part of the data of a store elsewhere: first it writes all of it to its disk."""
EOF_MARK: Final = b"EOF:"

Copied = Callable[[int, int], None]
"""Gets the number of bytes copied, and of all bytes."""


class BackupError(Exception):
    """There is no copy; the message says why."""


def copy_log(source: Path, target: Path, told: Copied) -> None:
    """Copy the log of an engine, which may run and write meanwhile."""
    folder = source / ENGINE_FILES
    with ExitStack() as stack:
        manifest, files = _opened(folder, stack)
        total = sum(os.fstat(file.fileno()).st_size for file in files.values())
        copied = 0
        (target / ENGINE_FILES).mkdir(mode=0o700, parents=True)
        for name, file in files.items():
            with (target / ENGINE_FILES / name).open("xb") as copy:
                while part := file.read(CHUNK):
                    copied += copy.write(part)
                    told(copied, max(copied, total))
        _write(target / ENGINE_FILES / MANIFEST, manifest)
        _write(target / MARKER, (source / MARKER).read_bytes())


def _opened(folder: Path, stack: ExitStack) -> tuple[bytes, dict[str, BinaryIO]]:
    """Open the files of a log as one manifest lists them, and return both."""
    for _ in range(ATTEMPTS):
        with ExitStack() as attempt:
            try:
                manifest = (folder / MANIFEST).read_bytes()
                files: dict[str, BinaryIO] = {
                    name: attempt.enter_context((folder / name).open("rb"))
                    for name in names_of(manifest)
                }
                if files and (folder / MANIFEST).read_bytes() == manifest:
                    stack.push(attempt.pop_all())
                    return manifest, files
            except FileNotFoundError:
                continue
    raise BackupError(f"{folder} holds no log of an engine, or it changes all the time")


def names_of(manifest: bytes) -> tuple[str, ...]:
    """Return the files that hold data, in the order in which an engine reads them."""
    found = []
    for line in manifest.decode().splitlines():
        match line.split():
            case ["file", name, "seq", _, "type", "b" | "i"] if Path(name).name == name:
                found.append(name)
    return tuple(found)


async def fetch_rdb(url: str, target: Path, version: Version, told: Copied) -> None:
    """Write the data of a store elsewhere as a log whose base is its RDB file. `version` is the
    engine that is to read it."""
    folder = target / ENGINE_FILES
    folder.mkdir(mode=0o700, parents=True)
    at = endpoint(url)
    if at.path:
        opening = asyncio.open_unix_connection(at.path, limit=CHUNK)
    else:
        opening = asyncio.open_connection(at.host, at.port, ssl=at.tls, limit=CHUNK)
    reader, writer = await asyncio.wait_for(opening, at.connect_seconds)
    try:
        for greeting in at.greeting:
            writer.write(greeting)
            _accepted(await asyncio.wait_for(reader.readline(), at.answer_seconds))
        # Without a capability of its own, a replica is sent a file of a known length.
        writer.write(b"SYNC\r\n")
        head = b"\n"
        while head == b"\n":  # sent while the store writes its file
            head = await asyncio.wait_for(reader.readline(), SYNC_SECONDS)
        _accepted(head)
        if head[:1] != b"$" or head[1:].startswith(EOF_MARK):
            raise BackupError(f"the store answered SYNC by {head[:80]!r}")
        await _received(reader, int(head[1:]), folder / BASE, told)
    finally:
        writer.close()
    _write(folder / REST, b"")
    _write(folder / MANIFEST, LOG_OF_RDB.encode())
    _write(target / MARKER, msgspec.json.encode(version))


def _accepted(line: bytes) -> None:
    if not line or line.startswith(b"-"):
        why = line.decode(errors="replace").strip("-\r\n") or "the store closed the connection"
        raise BackupError(f"{why}; a user of the store that may SYNC (ACL rule: +sync) is needed")


async def _received(reader: asyncio.StreamReader, size: int, path: Path, told: Copied) -> None:
    left = size
    with path.open("xb") as copy:
        while left:
            part = await asyncio.wait_for(reader.read(min(left, CHUNK)), SYNC_SECONDS)
            if not part:
                raise BackupError(f"the store closed the connection {left} bytes before the end")
            left -= copy.write(part)
            told(size - left, size)
        copy.flush()
        os.fsync(copy.fileno())


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of the log, by name."""
    found = {}
    for path in sorted((folder / ENGINE_FILES).iterdir()):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def size_of(folder: Path) -> int:
    """Return the bytes of the log."""
    return sum(path.stat().st_size for path in (folder / ENGINE_FILES).iterdir())


def place(source: Path, target: Path) -> None:
    """Copy a finished backup to a data folder without data."""
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (target / ENGINE_FILES).exists():
        raise BackupError(f"{target} holds data already: name a new folder, or move it away")
    shutil.copytree(source / ENGINE_FILES, target / ENGINE_FILES)
    shutil.copy2(source / MARKER, target / MARKER)
    for path in (target / ENGINE_FILES).iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
