"""Records in a folder or a bucket, where they stay when the store has dropped them.

A record holds the whole log of its game, so nothing else of a finished room needs to be kept. Each
object is the record as gzip, named by the room's code and the time of its last commit: codes may be
used again after years. `towerhall verify` checks an unpacked one. Nothing is ever removed here.

Servers that share a store share the archive as well, or each finds only what it has written.
"""

import asyncio
import gzip
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from towerhall_server.eventlog.entry import START
from towerhall_server.live.bucket import BucketAccess, BucketName, ObjectBucket
from towerhall_server.live.kept import KeptRecord
from towerhall_server.record.format import key_hash_of

logger = logging.getLogger(__name__)

SUFFIX: Final = ".json.gz"
SHELF: Final = 2
"""Letters of a code that name its subfolder: no folder gets too full."""


class Shelves(Protocol):
    """Named objects. Calls block, and raise `OSError`."""

    def put(self, name: str, data: bytes) -> None: ...
    def get(self, name: str) -> bytes: ...
    def names(self, beginning: str, most: int = 1000) -> Sequence[str]: ...


class Archive:
    """The records on some shelves."""

    def __init__(self, shelves: Shelves) -> None:
        self._shelves = shelves

    async def problem(self) -> str | None:
        """Return why the archive cannot be used now; None if it can be read."""
        try:
            await asyncio.to_thread(self._shelves.names, "", 1)
        except OSError as error:
            return str(error)
        return None

    async def put(self, code: str, kept: KeptRecord) -> bool:
        """Write a record, or replace the one of the same game. Returns False if that is not
        possible: the record has to stay in the store."""
        try:
            await asyncio.to_thread(self._shelves.put, _name(code, kept), kept.packed)
        except OSError as error:
            logger.warning("the record of %s is not archived: %s", code, error)
            return False
        return True

    async def find(self, code: str) -> KeptRecord | None:
        """Return the newest record of a room with that code."""
        try:
            return await asyncio.to_thread(self._read, code)
        except (OSError, EOFError, ValueError) as error:
            logger.warning("the archived record of %s cannot be read: %s", code, error)
            return None

    def _read(self, code: str) -> KeptRecord | None:
        found = [
            name for name in self._shelves.names(f"{code[:SHELF]}/{code}.") if name.endswith(SUFFIX)
        ]
        if not found:
            return None
        packed = self._shelves.get(max(found, key=_time_of))
        # The log is gone, so its place means nothing any more.
        return KeptRecord(START, key_hash_of(gzip.decompress(packed)), packed, archived=True)


def _name(code: str, kept: KeptRecord) -> str:
    return f"{code[:SHELF]}/{code}.{kept.place.stamps.wall_ms}{SUFFIX}"


def _time_of(name: str) -> int:
    return int(name.split(".")[1])


class Folder:
    """Objects as files. An object is there as a whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def put(self, name: str, data: bytes) -> None:
        path = self._path / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The name of each writer's file is its own: several servers may share the folder.
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def get(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def names(self, beginning: str, most: int = 1000) -> Sequence[str]:
        folder, _, first = beginning.rpartition("/")
        found = (self._path / folder).glob(f"{first}*")
        return [f"{folder}/{path.name}" for path, _ in zip(found, range(most), strict=False)]


def archive_of(place: Path | BucketName | None, access: BucketAccess) -> Archive | None:
    """Return the archive at a place; None if there is none."""
    if isinstance(place, BucketName):
        return Archive(ObjectBucket(place, access))
    return Archive(Folder(place)) if place else None
