"""The logs of rooms as the store holds them, told for the checker.

Everything is derived anew from the entries: each link of the chain, each commit from its command by
the rules, and the view that every client should have had after it.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final

import msgspec

from tests.programs.faults.checker import Commit
from tests.store.several import client_of
from towerhall_protocol.document import Document
from towerhall_server.eventlog.entry import (
    COMMIT_ID_BYTES,
    START,
    Entry,
    Stamps,
    entry_after,
)
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.game import AnyGame, discover
from towerhall_server.live.record_store import make_record
from towerhall_server.live.replica import follow
from towerhall_server.record.narrate import is_same
from towerhall_server.record.rederive import UndecidedError, decide_again, decide_first
from towerhall_server.record.verify import verify
from towerhall_server.room import commits
from towerhall_server.room.closing import close_step
from towerhall_server.room.state import Room
from towerhall_server.room.view import view, view_class

HASH_BYTES: Final = 8
NO_ID: Final = bytes(COMMIT_ID_BYTES)
"""Of the commit that closes a room for its record alone."""
_encode = msgspec.msgpack.Encoder(order="sorted").encode


def view_hash(document: Document) -> str:
    """The same for equal documents, whatever the order of their keys."""
    return blake2b(_encode(document), digest_size=HASH_BYTES).hexdigest()


class RoomLog(msgspec.Struct, frozen=True):
    """A room as the store has it: nothing at all if it is gone."""

    secret: bytes
    entries: tuple[Entry, ...]


async def read_logs(url: str, rooms: Iterable[str]) -> dict[str, RoomLog]:
    """Without any of the server's reading: a mistake there must not hide itself."""
    found = {}
    async with client_of(url) as redis:
        for room in rooms:
            keys = room_keys(room)
            secret: Any = await redis.get(keys.secret)
            rows: Any = await redis.xrange(keys.log)
            found[room] = RoomLog(secret or b"", tuple(_entry(name, row) for name, row in rows))
    return found


def told(log: RoomLog, games: Mapping[str, AnyGame] | None = None) -> tuple[Commit, ...]:
    """The commits with the views that they lead to, and with what is wrong about them."""
    games = games or discover()
    found = tuple(_told(log, games))
    if found and not any(each.flaw for each in found):
        flaw = _complaint(log, games)
        found = (*found[:-1], msgspec.structs.replace(found[-1], flaw=flaw))
    return found


def _complaint(log: RoomLog, games: Mapping[str, AnyGame]) -> str:
    """What a stranger finds wrong with the record of the room; it is closed if it goes on."""
    entries, room = log.entries, None
    for entry in entries:
        room = follow(games, log.secret, room, entry).after
    if room is None:
        return ""
    last = entries[-1]
    if room.table.status != "over":
        blob = commits.encode_commit(close_step(room, "checked", "service").commit)
        entries = (*entries, entry_after(last.point, last.stamps, NO_ID, blob))
    findings = verify(make_record(games, log.secret, entries), games)
    return "; ".join(f"{each.code} at {each.where}: {each.detail}" for each in findings)


def _told(log: RoomLog, games: Mapping[str, AnyGame]) -> Iterator[Commit]:
    room: Room | None = None
    before = START
    for entry in log.entries:
        commit = commits.decode_commit(entry.blob, room.rules if room else None)
        flaw, late_ms = _judged(games, log.secret, room, commit, entry.stamps)
        if not entry.follows(before):
            flaw = "its link does not fit"
        change = follow(games, log.secret, room, entry)
        room, before = change.after, entry.point
        seen = view_hash(view(room, view_class(room.rules, None)))
        cause = commit.cause
        yield Commit(entry.seq, change.mark, seen, cause.origin, cause.n, flaw, late_ms)


def _judged(
    games: Mapping[str, AnyGame],
    secret: bytes,
    room: Room | None,
    commit: commits.Commit,
    stamps: Stamps,
) -> tuple[str, int | None]:
    """Why the rules do not lead to this commit, nothing if they do; and how late a timer was."""
    try:
        again = decide_again(room, commit) if room else decide_first(games, secret, commit)
    except UndecidedError as error:
        return str(error), None
    if not is_same(again.step.commit, commit):
        return "by the rules it is different", None
    late_ms = stamps.served_ms - again.not_before_ms
    flaw = f"it was not due for another {-late_ms} ms" if late_ms < 0 else ""
    return flaw, late_ms if again.actor == "timer" else None


def _entry(name: bytes, fields: Mapping[bytes, bytes]) -> Entry:
    return Entry(
        seq=int(name.partition(b"-")[0]),
        commit_id=fields[b"i"],
        chain=fields[b"c"],
        blob=fields[b"b"],
        stamps=Stamps(int(fields[b"t"]), int(fields[b"u"])),
    )
