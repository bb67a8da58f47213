"""Records are made once, soon after a game has ended on this node, and kept from then on.

They are made in the background, one at a time, so no move waits. If the node dies before, or the
store does not answer, nothing is lost: the first request, or the removal of the room, makes the
record. `record_store` reads the log and stores the file.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec

from towerhall_protocol.public_log import Logged
from towerhall_protocol.statements import Sign, unsigned
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.unarchived import settle_archive, unarchived
from towerhall_server.game import AnyGame
from towerhall_server.live.archive import Archive
from towerhall_server.live.kept import KeptRecord
from towerhall_server.live.record_store import (
    RecordNotReadyError,
    find_or_make_record,
    find_record,
    improve_record,
    keep_record,
    with_proof,
)
from towerhall_server.room.state import Room
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

AFTER_SECONDS: Final = 1.0
"""Seconds that the last frames and the chat after a game get before its record is made."""
LATE_SECONDS: Final = 60.0
"""Seconds between two attempts to archive what the archive did not take."""
MOST_LATE: Final = 32
"""Records of one attempt."""
MOST_WAITING: Final = 1000
"""Games that may wait for their records. Beyond that the first request makes the record."""


class InPublic(msgspec.Struct, frozen=True):
    """The public log, as far as records need it. They owe it leaves, one per line."""

    owe: Callable[[str], None]
    """Told of a room that has left such a debt in the store. Must not raise."""
    proof: Callable[[bytes], Awaitable[Logged | None]]
    """The proof that the last of these leaves is there; None if it is not yet."""


class Records:
    """The records that this node makes and looks up."""

    def __init__(
        self,
        log: EventLog,
        games: Mapping[str, AnyGame],
        keep_days: int,
        sign: Sign = unsigned,
        public: InPublic | None = None,
        archive: Archive | None = None,
    ) -> None:
        self._log, self._games, self._keep_days, self._sign = log, games, keep_days, sign
        self._public, self._archive = public, archive
        self._proving: set[str] = set()
        self._ended: dict[str, None] = {}
        """Codes of rooms, in the order in which their games ended."""
        self._bell = asyncio.Event()
        self._turn = asyncio.Lock()
        self._making: dict[str, asyncio.Task[KeptRecord | None]] = {}

    def heard(self, before: Room | None, after: Room) -> None:
        """This node has appended a commit. Must not raise."""
        was_over = before is not None and before.table.status == "over"
        is_over = after.table.status == "over"
        if is_over and not was_over and len(self._ended) < MOST_WAITING:
            self._ended[after.table.code] = None
            self._bell.set()

    async def find(self, code: str) -> KeptRecord | None:
        """The record of a room, if it is kept. With its first request after the public log has its
        seal, it gets the proof of that."""
        kept = await find_record(self._log, code)
        if kept is None and self._archive is not None:
            # A later room may have the same code: its log would be there.
            is_there = await self._log.entry(code, 1) is not None
            return None if is_there else await self._archive.find(code)
        if kept is None or not kept.owed or self._public is None or code in self._proving:
            return kept
        self._proving.add(code)
        try:
            return await self._proved(code, kept, self._public)
        except StoreError:  # it can be sent all the same
            return kept
        finally:
            self._proving.discard(code)

    async def keep(self, code: str) -> KeptRecord | None:
        """The record of a room, made and kept if it is not there; `None` if there is no such room.
        Those who ask meanwhile get the same one. `RecordNotReadyError` while the room goes on."""
        task = self._making.get(code)
        if task is None:
            task = self._making[code] = asyncio.create_task(self._keep(code))
            task.add_done_callback(lambda _: self._making.pop(code, None))
        return await asyncio.shield(task)

    async def run(self) -> None:
        """Make the records of games that end here, until cancelled."""
        try:
            while True:
                await self._bell.wait()
                await asyncio.sleep(AFTER_SECONDS)
                self._bell.clear()
                while self._ended:
                    code = next(iter(self._ended))
                    del self._ended[code]
                    await self._keep_safely(code)
        finally:
            for task in self._making.values():
                task.cancel()

    async def archive_late(self) -> None:
        """Archive what the archive did not take before, until cancelled."""
        problem = await self._archive.problem() if self._archive else None
        if problem:
            logger.error("the archive cannot be used, so the store keeps all records: %s", problem)
        while self._archive is not None:
            try:
                await self.archive_again()
            except StoreError as error:
                logger.info("records wait for the archive: %s", error)
            await asyncio.sleep(LATE_SECONDS)

    async def archive_again(self) -> None:
        """Try once, the oldest first. Any server of the store may do it, also several at once."""
        while late := await unarchived(self._log, MOST_LATE):
            for code in late:
                kept = await find_record(self._log, code)
                if kept is not None and not kept.archived:
                    kept = await keep_record(
                        self._log, code, kept, self._keep_days, archive=self._archive
                    )
                    if not kept.archived:
                        return
                await settle_archive(self._log, code)

    async def _keep(self, code: str) -> KeptRecord | None:
        async with self._turn:
            kept = await find_or_make_record(self._log, code, self._games, self._sign)
        if kept is not None:
            owed = kept.owed if self._public is not None else b""
            try:
                kept = await keep_record(
                    self._log, code, kept, self._keep_days, owed, self._archive
                )
            except StoreError as error:  # it may be full, and the record can be sent all the same
                logger.warning("the record of %s is not kept: %s", code, error)
            if self._public is not None and owed:
                self._public.owe(code)
        return kept

    async def _proved(self, code: str, kept: KeptRecord, public: InPublic) -> KeptRecord:
        logged = await public.proof(kept.owed)
        if logged is None:
            # The store may have lost the debt, as when it became an older copy of itself.
            await self._log.owe(code, kept.owed)
            public.owe(code)
            return kept
        # Long records take some milliseconds to be packed.
        proved = await asyncio.to_thread(with_proof, kept, logged)
        await improve_record(self._log, code, proved, self._archive)
        return proved

    async def _keep_safely(self, code: str) -> None:
        try:
            await self.keep(code)
        except (StoreError, RecordNotReadyError) as error:
            logger.info("the record of %s waits for a request: %r", code, error)
        except Exception:
            logger.exception("the record of %s cannot be made", code)
