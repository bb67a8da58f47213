"""A room on its way from one store to another: all that a store holds of it, as plain data.

Entries keep ids, chains and stamps, so the room has the same past everywhere. `DUMP` would not do:
no engine restores what a newer one has dumped.

A room that moves is fenced: its log in the old store gets one more entry, which no server can read.
Appends after it conflict, every server of the old store lets the room go, and clients come back
until they reach a server that has it. The fence stays behind: it is not part of the room.
"""

import asyncio
from collections.abc import Iterator
from typing import Final

import msgspec

from towerhall_server.eventlog.answers import Append
from towerhall_server.eventlog.entry import START, Entry, entry_after
from towerhall_server.eventlog.keys import LOBBY, room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call, script_of
from towerhall_server.eventlog.shared import MOST_DOUBT_MS
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import packed

FENCE_ID: Final = b"room was moved.."
"""Commit id of all fences. Ids of commits are random."""
FORM: Final = 1
"""The form of parcels in files."""
PAGE: Final = 256
STAGED_MS: Final = 3_600_000
"""Milliseconds until the store drops a log that has come in part."""
ADOPT: Final = script_of("adopt.lua")


class Parcel(msgspec.Struct, frozen=True):
    """All that a store holds of a room, but for snapshots and debts to its public log."""

    room: str
    entries: tuple[Entry, ...]
    secret: bytes
    chat: tuple[tuple[str, bytes], ...]
    """Ids and texts of the lines."""
    summary: bytes
    """The room's entry in the lobby; empty if it is not listed."""
    served_ms: int
    """The service clock of its shard when the room was read."""
    due_ms: int | None
    """The time of its next wake-up by this clock."""
    ttl_ms: int
    record: bytes
    """Empty if none was kept."""
    record_ttl_ms: int
    is_end: bool = False
    """Whether the game has ended, and the end is in no journal yet."""
    form: int = FORM

    @property
    def holds_together(self) -> bool:
        """Whether each entry follows the one before."""
        place = START
        for entry in self.entries:
            if not entry.follows(place):
                return False
            place = entry.point
        return bool(self.entries)


class NotAdoptedError(Exception):
    """The store does not take the room; the message says why."""


REFUSALS: Final = {
    b"EXISTS": "another room has that code there, or this one has gone on there",
    b"TORN": "its log did not arrive whole; try again",
    b"AHEAD": "the service clock there is {ms} ms ahead, which would take time from players and"
    " break the record. Let the game end first, or take a new store",
    b"BEHIND": "the service clock there is {ms} ms behind, and other rooms depend on it. Take a"
    " new store",
}


def is_fence(entry: Entry) -> bool:
    return entry.commit_id == FENCE_ID


def destination(fence: Entry) -> str:
    """Return the name of the store to which the room was moved."""
    return msgspec.msgpack.decode(fence.blob, type=str)


def fencing(room: str, newest: Entry, to: str, due_ms: int | None, ttl_ms: int) -> Append:
    """The append that fences a room. `to` is a name without a password. No stamp is new: the
    room's time stands still on its way. It keeps its deadline, so that the store still lists it."""
    # A commit is an array. A text can be read as one by no version.
    fence = entry_after(newest.point, newest.stamps, FENCE_ID, msgspec.msgpack.encode(to))
    place = newest.point
    return Append(
        mode="heal", room=room, before=place, entry=fence, ttl_ms=ttl_ms, due_at_ms=due_ms
    )


async def let_go(log: EventLog, room: str) -> None:
    """Strike a fenced room off the lists of its old store: it has arrived."""
    shard = room_keys(room).shard
    await log.call(Call(packed("ZREM", shard.due, room)))
    await log.call(Call(packed("SREM", shard.ends, room)))


async def take_out(log: EventLog, room: str, entries: tuple[Entry, ...]) -> Parcel | None:
    """Read the rest of a room whose log was read. None if it was removed meanwhile."""
    keys = room_keys(room)
    commands = (
        packed("GET", keys.secret),
        packed("PTTL", keys.log),
        packed("XRANGE", keys.chat, "-", "+"),
        packed("HGET", keys.shard.lobby, room),
        packed("HMGET", keys.shard.clock, "served", "last"),
        packed("ZSCORE", keys.shard.due, room),
        packed("GET", keys.record),
        packed("PTTL", keys.record),
        packed("SISMEMBER", keys.shard.ends, room),
    )
    calls = [log.call(Call(command)) for command in commands]
    found = await asyncio.gather(*calls, log.claim(room))
    secret, ttl_ms, chat, summary, (served, last), due, *rest = found
    record, record_ttl_ms, is_end, now_us = rest
    if secret is None or ttl_ms <= 0:
        return None
    now_ms = now_us // 1000
    since_ms = max(now_ms - int(last or now_ms), 0)
    return Parcel(
        room=room,
        entries=entries,
        secret=secret,
        chat=tuple((name.decode(), fields[1]) for name, fields in chat),
        summary=summary or b"",
        served_ms=int(served or 0) + min(since_ms, MOST_DOUBT_MS),
        due_ms=None if due is None else round(float(due)),
        ttl_ms=ttl_ms,
        record=record or b"",
        record_ttl_ms=max(record_ttl_ms, 0),
        is_end=bool(is_end),
    )


async def stage(log: EventLog, room: str, entries: tuple[Entry, ...], *, begin: bool) -> None:
    """Bring entries to a store, where nothing reads them yet. `begin` drops what came before."""
    coming = room_keys(room).coming
    if begin:
        await log.call(Call(packed("DEL", coming)))
    for page in _pages(entries):
        answers = await asyncio.gather(
            *(log.call(Call(_added(coming, entry))) for entry in page), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, StoreError):
                raise answer
    await log.call(Call(packed("PEXPIRE", coming, STAGED_MS)))


async def adopt(log: EventLog, parcel: Parcel, *, is_over: bool, dry: bool = False) -> None:
    """Make a room out of the staged log. Idempotent. `dry` only asks whether the store would take
    it. Raises `NotAdoptedError`."""
    keys, first, top = room_keys(parcel.room), parcel.entries[0], parcel.entries[-1]
    shard = keys.shard
    own = (keys.coming, keys.log, keys.secret, keys.ended)
    touched = (*own, shard.due, shard.clock, shard.lobby, keys.chat, keys.record, shard.ends)
    newest = (f"{top.seq}-0", top.chain, top.stamps.wall_ms, top.stamps.served_ms)
    rest = (
        *(first.stamps.wall_ms, parcel.served_ms, parcel.secret),
        *("" if parcel.due_ms is None else parcel.due_ms, parcel.summary, parcel.ttl_ms),
        *(int(is_over), int(dry), parcel.record, parcel.record_ttl_ms, int(parcel.is_end)),
        *(part for line in parcel.chat for part in line),
    )
    call = run_call(ADOPT, touched, parcel.room, LOBBY, FENCE_ID, *newest, *rest)
    answer, *numbers = await log.call(call)
    if answer in REFUSALS:
        raise NotAdoptedError(REFUSALS[answer].format(ms=numbers[0] if numbers else 0))


def _pages(entries: tuple[Entry, ...]) -> Iterator[tuple[Entry, ...]]:
    return (entries[at : at + PAGE] for at in range(0, len(entries), PAGE))


def _added(key: str, entry: Entry) -> bytes:
    stamps = entry.stamps
    fields = ("i", entry.commit_id, "c", entry.chain, "b", entry.blob)
    times = ("t", stamps.wall_ms, "u", stamps.served_ms)
    return packed("XADD", key, f"{entry.seq}-0", *fields, *times)
