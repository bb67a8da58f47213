"""The commits of a record as entries of a log, and what a server reads of a kept record."""

import msgspec

from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.record import Record, Row
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.room.commits import decode_commit
from towerhall_server.room.events import RoomCreated


def length_of(data: bytes) -> int:
    """Return the number of commits in the record of that file."""
    return len(msgspec.json.decode(data, type=_Commits).commits)


def key_hash_of(data: bytes) -> bytes:
    """Return the hash of the room's key; empty if the room was public."""
    first = decode_commit(
        from_base64url(msgspec.json.decode(data, type=_Commits).commits[0].blob), None
    )
    created = first.room[0]
    return created.key_hash if isinstance(created, RoomCreated) else b""


class _Commits(msgspec.Struct, frozen=True):
    commits: tuple[Row, ...]


def entries_of(record: Record) -> tuple[Entry, ...]:
    """Return the log of the commits."""
    return tuple(
        Entry(
            row.seq,
            from_base64url(row.commit_id),
            from_base64url(row.chain),
            from_base64url(row.blob),
            Stamps(row.wall_ms, row.served_ms),
        )
        for row in record.commits
    )


def rows_of(entries: tuple[Entry, ...]) -> tuple[Row, ...]:
    return tuple(
        Row(
            entry.seq,
            base64url(entry.commit_id),
            base64url(entry.chain),
            base64url(entry.blob),
            entry.stamps.wall_ms,
            entry.stamps.served_ms,
        )
        for entry in entries
    )
