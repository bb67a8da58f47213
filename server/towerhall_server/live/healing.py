"""How a replica puts back the end of a log, or a whole log, that the store has lost.

Each entry goes back with its own id, chain and times, oldest first, and only where the log still is
as the replica knows it. If another entry came first, it wins, and the rest is dropped.

A log that is lost as a whole is put back by a replica that holds all of it. The store decides
whether it was lost or removed: see `restore.lua`.
"""

from towerhall_server.eventlog.answers import Append, Lost
from towerhall_server.eventlog.entry import Entry
from towerhall_server.live.replica import Replica
from towerhall_server.room.view import summary


def healing(replica: Replica, top: Entry, due_at_ms: int, ttl_ms: int) -> tuple[Append, ...]:
    """The appends that put back what is missing after `top`; none if that cannot be done."""
    room = replica.room
    attempts = []
    before = top.point
    for entry in missing_after(replica.tail, top):
        attempts.append(
            Append(
                mode="heal",
                room=room.table.code,
                before=before,
                entry=entry,
                ttl_ms=ttl_ms,
                due_at_ms=due_at_ms,
                summary=summary(room.table),
                # Told with each entry: only the last one is certain to end the game.
                is_end=room.table.result is not None,
            )
        )
        before = entry.point
    return tuple(attempts)


def missing_after(tail: tuple[Entry, ...], top: Entry) -> tuple[Entry, ...]:
    """The entries of a tail after `top`, where a log ends; none if that is another log."""
    ends = [number for number, entry in enumerate(tail, 1) if entry.point == top.point]
    return tail[ends[0] :] if ends else ()


def restoring(replica: Replica, due_at_ms: int, ttl_ms: int) -> Lost | None:
    """The parts to begin the log anew; `None` if the replica does not hold its first entry."""
    tail = replica.tail
    first, newest = tail[0], tail[-1]
    if first.seq != 1:
        return None
    room = replica.room
    return Lost(
        room=room.table.code,
        first=first,
        newest_wall_ms=newest.stamps.wall_ms,
        secret=room.secret + room.salt,
        due_at_ms=due_at_ms,
        summary=summary(room.table),
        ttl_ms=ttl_ms,
        rest=healing(replica, first, due_at_ms, ttl_ms),
    )
