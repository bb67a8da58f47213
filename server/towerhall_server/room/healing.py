"""How a log that lost its end gets it back from a replica that still has it.

Each entry goes back with its own id, chain and times, oldest first, and only where the log still is
what the replica knows: whoever was faster with something else wins, and the rest is dropped. A log
that is empty is never filled: what was removed stays removed.
"""

from towerhall_server.eventlog.entry import Entry
from towerhall_server.eventlog.log import Append
from towerhall_server.room.commits import decode_commit
from towerhall_server.room.replica import Replica
from towerhall_server.room.view import summary


def healing(replica: Replica, top: Entry, due_at_ms: int, ttl_ms: int) -> tuple[Append, ...]:
    """The appends that put back what is missing after `top`; none if that cannot be done."""
    tail = replica.tail
    known = {entry.seq: entry for entry in tail}.get(top.seq)
    if known is None or known.point != top.point:
        return ()
    room = replica.room
    attempts = []
    before = known.point
    for entry in tail[tail.index(known) + 1 :]:
        cause = decode_commit(entry.blob, room.rules).cause
        attempts.append(
            Append(
                mode="heal",
                room=room.table.code,
                before=before,
                commit_id=entry.commit_id,
                chain=entry.chain,
                blob=entry.blob,
                ttl_ms=ttl_ms,
                origin=cause.sender,
                n=cause.n,
                due_at_ms=due_at_ms,
                summary=summary(room.table),
                stamps=entry.stamps,
            )
        )
        before = entry.point
    return tuple(attempts)
