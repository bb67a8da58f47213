"""Records in the store: made when a game is over, and kept as they are sent to clients.

Package `record` defines the file, makes it from a log, and checks it. This module reads the log and
stores the file. `records` decides when, and the removal of a room makes a missing record.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from time import sleep
from typing import Final

import msgspec

from towerhall_protocol.public_log import Logged
from towerhall_protocol.statements import Sign, unsigned
from towerhall_server.eventlog.answers import Following, Gone
from towerhall_server.eventlog.entry import Entry
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.unarchived import owe_archive
from towerhall_server.game import AnyGame
from towerhall_server.live.archive import Archive
from towerhall_server.live.kept import KeptRecord, decode, encode, zipped
from towerhall_server.live.loading import whole_log
from towerhall_server.record.format import key_hash_of, length_of
from towerhall_server.record.narrate import RecordNotReadyError, make_record
from towerhall_server.room.debts import ended_of

__all__ = [
    "KeptRecord",
    "RecordNotReadyError",
    "find_or_make_record",
    "find_record",
    "keep_record",
    "make_record",
    "record_of",
]

DAY_MS: Final = 24 * 3_600_000
UNARCHIVED_DAYS: Final = 400
"""Days for which the store keeps a record that an archive has not taken."""
GIVE_WAY_SECONDS: Final = 0.0002
"""The pause after each commit while a record is made. Without it, the interpreter would let the
event loop run once in 5 ms."""


async def find_record(log: EventLog, code: str) -> KeptRecord | None:
    """The kept record of a room; `None` if there is none, or if the log says otherwise by now."""
    data = await log.record(code)
    if data is None:
        return None
    try:
        kept = await asyncio.to_thread(decode, data)
    except msgspec.MsgspecError:  # another version of the server kept it in another form
        return None
    match await log.read(code, kept.place, page=1):
        case Gone() | Following():
            return kept
    return None


async def find_or_make_record(
    log: EventLog, code: str, games: Mapping[str, AnyGame], sign: Sign = unsigned
) -> KeptRecord | None:
    """The record, made from the log if it is not kept; `None` if there is no such room.
    `RecordNotReadyError` while the room goes on."""
    # A room that is removed right now has its record before it loses its log.
    return (
        await find_record(log, code)
        or await _made(log, code, games, sign)
        or await find_record(log, code)
    )


async def keep_record(
    log: EventLog,
    code: str,
    kept: KeptRecord,
    keep_days: int,
    owed: bytes = b"",
    archive: Archive | None = None,
) -> KeptRecord:
    """Put the record into the archive, if there is one, and into the store for that long from now
    on, with a debt to the public log. The store drops an archived record after a day. A record that
    the archive does not take stays in the store until it does: see `Records.archive_late`."""
    if archive is not None and not kept.archived:
        if await archive.put(code, kept):
            kept = msgspec.structs.replace(kept, archived=True)
        else:
            keep_days = max(keep_days, UNARCHIVED_DAYS)
            await owe_archive(log, code)
    # Until the log goes, the record may be asked for, even where none is kept after that.
    days = 1 if kept.archived else max(keep_days, 1)
    data = await asyncio.to_thread(encode, kept)
    await log.keep_record(code, data, days * DAY_MS, owed)
    return kept


async def record_of(log: EventLog, code: str, games: Mapping[str, AnyGame]) -> bytes | None:
    """The same as `find_or_make_record`, as a file."""
    kept = await find_or_make_record(log, code, games)
    return None if kept is None else kept.file


async def _made(
    log: EventLog, code: str, games: Mapping[str, AnyGame], sign: Sign
) -> KeptRecord | None:
    secret, entries = await log.secret(code), await whole_log(log, code)
    if secret is None or not entries:
        return None
    # Long games are decided again move by move: not on the loop.
    return await asyncio.to_thread(_make, games, secret, entries, sign)


def with_proof(kept: KeptRecord, logged: Logged) -> KeptRecord:
    """The record with the proof that the public log has its seal. Its seal does not cover this."""
    # `log` is the last key of a record.
    file = b'%b,"log":%b}' % (kept.file[:-1], msgspec.json.encode(logged))
    return msgspec.structs.replace(kept, packed=zipped(file), owed=b"")


async def improve_record(
    log: EventLog, code: str, kept: KeptRecord, archive: Archive | None = None
) -> None:
    """Keep a record in another form, for as long as it was to be kept."""
    if archive is not None:
        await archive.put(code, kept)
    await log.improve_record(code, await asyncio.to_thread(encode, kept))


def _make(
    games: Mapping[str, AnyGame], secret: bytes, entries: tuple[Entry, ...], sign: Sign
) -> KeptRecord:
    pause = partial(sleep, GIVE_WAY_SECONDS)
    data = make_record(games, secret, entries, pause=pause, sign=sign)
    end = entries[length_of(data) - 1].point
    return KeptRecord(end, key_hash_of(data), zipped(data), ended_of(data))
