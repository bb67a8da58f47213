"""Records as files in a folder, where they stay when the store has dropped them.

A record holds the whole log of its game, so nothing else of a finished room needs to be kept. Each
file is the record as gzip, named by the room's code and the time of its last commit: codes may be
used again after years. `towerhall verify` checks an unpacked file. No file is ever removed here.

Servers that share a store share the folder as well, or each finds only what it has written.
"""

import asyncio
import gzip
import logging
import os
from pathlib import Path
from typing import Final

from towerhall_server.eventlog.entry import START
from towerhall_server.live.kept import Kept
from towerhall_server.record.format import key_hash_of

logger = logging.getLogger(__name__)

SUFFIX: Final = ".json.gz"
SHELF: Final = 2
"""Letters of a code that name its subfolder: no folder gets too full."""


class Archive:
    """The records in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, code: str, kept: Kept) -> bool:
        """Write a record, or replace the one of the same game. Returns False if that is not
        possible: the record then stays in the store for as long as without an archive."""
        try:
            await asyncio.to_thread(self._write, code, kept)
        except OSError as error:
            logger.warning("the record of %s is not archived: %s", code, error)
            return False
        return True

    async def find(self, code: str) -> Kept | None:
        """Return the newest record of a room with that code."""
        try:
            return await asyncio.to_thread(self._read, code)
        except (OSError, EOFError, ValueError) as error:
            logger.warning("the archived record of %s cannot be read: %s", code, error)
            return None

    def _write(self, code: str, kept: Kept) -> None:
        shelf = self._folder / code[:SHELF]
        shelf.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = shelf / f"{code}.{kept.place.stamps.wall_ms}{SUFFIX}"
        # The name of each writer's file is its own: several servers may share the folder.
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        with new.open("wb") as file:
            file.write(kept.packed)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        descriptor = os.open(shelf, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _read(self, code: str) -> Kept | None:
        found = sorted(
            (self._folder / code[:SHELF]).glob(f"{code}.*{SUFFIX}"),
            key=lambda path: int(path.name.split(".")[1]),
        )
        if not found:
            return None
        packed = found[-1].read_bytes()
        # The log is gone, so its place means nothing any more.
        return Kept(START, key_hash_of(gzip.decompress(packed)), packed, archived=True)
