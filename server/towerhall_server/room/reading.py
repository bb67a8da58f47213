"""A whole log, for those who need all of it at once, and the room that it makes."""

from typing import Final

import msgspec

from towerhall_server.eventlog.entry import START, Entry
from towerhall_server.eventlog.log import EventLog, Following, Gone
from towerhall_server.game import UnknownRulesError
from towerhall_server.room.node import Node
from towerhall_server.room.replica import Replica

READINGS: Final = 5
"""A log that changes under so many readings does so by more than bad luck."""
NEWER: Final = (UnknownRulesError, msgspec.ValidationError)
"""What reading fails with if a newer server wrote the log: such servers can serve the room."""


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


async def load(node: Node, code: str) -> Replica | None:
    """A room from its log; `None` if there is none."""
    secret = await node.log.secret(code)
    if secret is None:
        return None
    entries = await whole_log(node.log, code)
    if not entries:
        return None
    replica = Replica(node.games, secret)
    replica.load(entries)
    return replica
