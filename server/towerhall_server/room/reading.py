"""A whole log, for those who need all of it at once."""

from typing import Final

from towerhall_server.eventlog.entry import START, Entry
from towerhall_server.eventlog.log import EventLog, Following, Gone

READINGS: Final = 5
"""A log that changes under so many readings does so by more than bad luck."""


async def whole_log(log: EventLog, code: str) -> tuple[Entry, ...]:
    """All entries of a log, with their links checked; none if it is gone."""
    for _ in range(READINGS):
        entries: list[Entry] = []
        more = True
        while more:
            reading = await log.read(code, entries[-1].point if entries else START)
            if isinstance(reading, Gone):
                return ()
            if not isinstance(reading, Following):
                break
            entries += reading.entries
            more = reading.more
        else:
            return tuple(entries)
    raise ValueError(f"the log of {code} does not hold together")
