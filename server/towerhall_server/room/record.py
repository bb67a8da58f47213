"""Records in the store: made when a game is over, kept when its log goes.

What is in a record stands in `record_shape`, how it is made in `telling`, and how anybody can check
it in `verify`. Here is only where the log comes from and where the file goes.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import AnyGame
from towerhall_server.room.reading import whole_log
from towerhall_server.room.telling import RecordNotReadyError, make_record

__all__ = ["RecordNotReadyError", "keep_record", "make_record", "record_of"]

DAY_MS: Final = 24 * 3_600_000


async def keep_record(
    log: EventLog, code: str, games: Mapping[str, AnyGame], keep_days: int
) -> None:
    """Put the record of a room into the store, where it outlives the log.

    Nothing happens if the room is gone: whoever removed it has kept its record before.
    """
    data = await _made(log, code, games)
    if data is not None:
        await log.keep_record(code, data, keep_days * DAY_MS)


async def record_of(log: EventLog, code: str, games: Mapping[str, AnyGame]) -> bytes | None:
    """The record of a room; `None` if there is none, `RecordNotReadyError` while it goes on."""
    kept = await log.record(code)
    if kept is not None:
        return kept
    # A room that is removed right now has its record before it loses its log.
    return await _made(log, code, games) or await log.record(code)


async def _made(log: EventLog, code: str, games: Mapping[str, AnyGame]) -> bytes | None:
    secret, entries = await log.secret(code), await whole_log(log, code)
    if secret is None or not entries:
        return None
    # Long games are decided again move by move: not on the loop.
    return await asyncio.to_thread(make_record, games, secret, entries)
