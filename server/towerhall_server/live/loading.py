"""Loading a log: a room from its newest snapshot, or all entries for those that check them.

A long log is read from the newest snapshot whose place is in it. A snapshot that is damaged, of
another version, or of another past is skipped: an older one is tried, or the whole log is read.
`upkeep` checks rooms that came from a snapshot.

A log with a broken link can be read up to that link. A room shows that part; records and exports
need the whole log.
"""

import asyncio
import logging
from bisect import bisect_right
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from towerhall_server.eventlog.answers import (
    Behind,
    Following,
    Forked,
    Gone,
    Reading,
)
from towerhall_server.eventlog.entry import START, Entry
from towerhall_server.eventlog.log import PAGE, EventLog, Found
from towerhall_server.game import UnknownRulesError
from towerhall_server.live.node import Node
from towerhall_server.live.replica import RECENT, Replica
from towerhall_server.live.snapshots import Snapshot, newest_due, unpack
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

READINGS: Final = 5
"""Attempts to read a log that changes meanwhile, before it counts as unreadable."""
TRIES: Final = 3
"""Snapshots that are tried before the whole log is read."""
NEWER: Final = (UnknownRulesError, msgspec.ValidationError)
"""Errors of reading a log that a newer server wrote. Newer servers can serve that room."""


class Readable(msgspec.Struct, frozen=True):
    """The entries of a log, from the first one on, whose links hold."""

    entries: tuple[Entry, ...]
    broken_at: int | None = None
    """The seq of the first entry that does not follow the one before; None if all do."""


async def readable_log(log: EventLog, code: str) -> Readable:
    """The entries up to the first broken link; none if the log is gone."""
    entries: list[Entry] = []
    broken_at: int | None = None
    for _ in range(READINGS):
        entries, more = [], True
        while more:
            place = entries[-1].point if entries else START
            match await log.read(code, place):
                case Following(found, more):
                    entries += found
                    if not more:
                        return Readable(tuple(entries))
                case Forked(seq, sound):
                    entries += sound
                    broken_at, more = seq, False
                case Gone():
                    return Readable(())
                case Behind():
                    more = False
    if broken_at is None or broken_at <= len(entries):
        raise ValueError(f"the log of {code} changes while it is read")
    return Readable(tuple(entries), broken_at)


async def whole_log(log: EventLog, code: str) -> tuple[Entry, ...]:
    """All entries of a log, with their links checked; none if it is gone."""
    readable = await readable_log(log, code)
    if readable.broken_at is not None:
        raise ValueError(f"the log of {code} does not hold together at {readable.broken_at}")
    return readable.entries


async def load(node: Node, code: str, *, whole: bool = False) -> Replica | None:
    """A room from its log; `None` if there is none. `whole`: without any snapshot."""
    secret, kept = await belongings(node.log, code)
    if secret is None:
        return None
    if not whole:
        replica = await _from_snapshot(node, code, secret, kept)
        if replica is not None:
            return replica
    readable = await readable_log(node.log, code)
    if not readable.entries:
        if readable.broken_at is not None:
            raise ValueError(f"the log of {code} cannot be read from its beginning")
        return None
    # One page at a time: other rooms do not wait for a long log.
    old = max(len(readable.entries) - RECENT, 0)
    replica = Replica.load(node.games, secret, readable.entries[: min(PAGE, old) or None])
    for first in range(PAGE, old, PAGE):
        await asyncio.sleep(0)
        replica.skip(readable.entries[first : min(first + PAGE, old)])
    if old:
        replica.read(readable.entries[old:])
    replica.broken_at = readable.broken_at
    if replica.broken_at is not None:
        logger.error("room %s: the log does not hold together at %d", code, replica.broken_at)
        node.meters.broken_logs += 1
    elif newest_due(newest_due(replica.point.seq) - RECENT) and not whole:
        node.upkeep.ask(code)
    return replica


async def belongings(log: EventLog, code: str) -> tuple[bytes | None, tuple[int, ...]]:
    """A room's secret, and the seqs of its snapshots."""
    return await asyncio.gather(log.secret(code), log.snapshots(code))


async def starts(
    node: Node, code: str, secret: bytes, kept: tuple[int, ...], last: int, until: int = 0
) -> AsyncIterator[tuple[Snapshot, Found]]:
    """Snapshots at or before seq `last`, the newest first, each with the entries that follow it, up
    to `until` if given. Reading on shows whether the place of a snapshot is in the log."""
    fitting = kept[: bisect_right(kept, last)]
    for seq in reversed(fitting[-TRIES:]):
        page = min(until - seq, PAGE) if until else PAGE
        data, entries = await node.log.snapshot(code, seq, page=page)
        found = None if data is None else unpack(data, node.games, secret)
        if found is not None and found.point.seq == seq and found.room.table.code == code:
            yield found, entries
        else:
            passed_over(node, code, seq)


def passed_over(node: Node, code: str, seq: int) -> None:
    """Count and log a useless snapshot. A background fold will replace it."""
    logger.warning("room %s: the snapshot of %d is passed over", code, seq)
    node.meters.snapshots["passed_over"] += 1
    node.upkeep.ask(code)


async def _from_snapshot(
    node: Node, code: str, secret: bytes, kept: tuple[int, ...]
) -> Replica | None:
    """A room from a snapshot and the entries after it; `None` if no snapshot fits."""
    if not kept:
        return None
    # Healing and resuming need the newest entries. The log may have gone on since the newest
    # snapshot, but asking for its end would cost another round trip.
    async for start, found in starts(node, code, secret, kept, kept[-1] - RECENT):
        replica = Replica(node.games, secret, start.room, start.point)
        try:
            reading = await _read_on(node.log, code, replica, found)
        except StoreError:
            raise
        except Exception:
            logger.exception("room %s leads nowhere from %d", code, start.point.seq)
            reading = None
        if isinstance(reading, Following):
            node.meters.snapshots["used"] += 1
            node.upkeep.ask(code, start.digest)
            return replica
        passed_over(node, code, start.point.seq)
        if isinstance(reading, Behind):
            # The log has lost its end, so snapshots beyond it are useless.
            left = kept[: bisect_right(kept, reading.top.seq)]
            return await _from_snapshot(node, code, secret, left)
    return None


async def _read_on(log: EventLog, code: str, replica: Replica, found: Found = ()) -> Reading:
    """Read on to the end of the log. The last reading tells whether that succeeded."""
    entries: tuple[Entry, ...] = ()
    more = True
    while more:
        place = entries[-1].point if entries else replica.point
        reading, found = await log.read(code, place, found=found), ()
        if not isinstance(reading, Following):
            return reading
        entries, more = entries + reading.entries, reading.more
        if more:
            replica.skip(entries[:-RECENT])
            entries = entries[-RECENT:]
    replica.read(entries)
    return reading
