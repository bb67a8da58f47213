"""The record of a finished game: one file that can be watched and checked without a server."""

from collections.abc import Mapping

from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import AnyGame


async def keep_record(
    log: EventLog, code: str, games: Mapping[str, AnyGame], keep_days: int
) -> None:
    """Put the record of a room into the store, where it outlives the log."""
    raise NotImplementedError
