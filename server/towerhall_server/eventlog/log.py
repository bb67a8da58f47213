"""A room's log in the store: append, read, clock, end of life.

The log is the lock. There is no owner of a room: any node may append, and the script decides which
commit gets the next seq. Three things make this safe. An append names the seq *and* the chain that
it follows, so a node that was away, or whose store went back in time, conflicts instead of forking
the log. An append is recognised when it is repeated, so a lost reply is answered by asking again
with the same bytes. A read starts *at* the reader's own place and checks every link, so that a log
that went back is not taken for one with nothing new.

No rules, no rooms' state, and no retrying live here: an answer that is not known is the caller's to
ask for again.
"""

from importlib.resources import files
from typing import Any, Literal, TypeAlias

import msgspec
from redis.asyncio import Redis

from towerhall_server.eventlog.batch import Batch, Script, script
from towerhall_server.eventlog.entry import START, Entry, Point, Stamps
from towerhall_server.eventlog.keys import room_keys, shard_keys

PAGE = 256
"""Entries per read: a whole game of Five Towers in one."""
BEAT_MS = 900
GIVEN_OUT_MS = 5000


def _script(name: str) -> Script:
    return script((files("towerhall_server.eventlog") / name).read_text())


class Append(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to append; repeated as it is until its answer is known."""

    mode: Literal["create", "append", "heal"]
    room: str
    before: Point
    commit_id: bytes
    chain: bytes
    blob: bytes
    ttl_ms: int
    origin: str = ""
    """Identity and client instance of the command; nothing for timers, bots and the room itself."""
    n: int = 0
    not_before_ms: int | None = None
    """Service time before which this must not happen: for timers."""
    due_in_ms: int | None = None
    """When the room wants to be woken, counted from this commit."""
    due_at_ms: int | None = None
    """The same as service time."""
    summary: bytes = b""
    """What the lobby shows; nothing if the room is not listed."""
    stamps: Stamps | None = None
    """The original ones, with `heal`."""


class Appended(msgspec.Struct, frozen=True):
    seq: int
    stamps: Stamps


class Duplicate(msgspec.Struct, frozen=True):
    """This command has been committed before, at that seq."""

    seq: int


class Stale(msgspec.Struct, frozen=True):
    """A later command of the same client came first; this one is never applied."""


class Conflict(msgspec.Struct, frozen=True):
    """The log does not end where the append expects."""

    seq: int
    chain: bytes


class Early(msgspec.Struct, frozen=True):
    ms_left: int


class Gone(msgspec.Struct, frozen=True):
    """There is no such log. It is never made anew."""


class Exists(msgspec.Struct, frozen=True):
    """A room of that code is there already."""


Answer: TypeAlias = Appended | Duplicate | Stale | Conflict | Early | Gone | Exists


class Following(msgspec.Struct, frozen=True):
    """What comes after the reader's place, with every link checked; `more` if that was a page."""

    entries: tuple[Entry, ...]
    more: bool


class Behind(msgspec.Struct, frozen=True):
    """The log ends before the reader's place: it has lost its tail."""

    top: Entry


class Forked(msgspec.Struct, frozen=True):
    """At that seq the log is not what the reader knows, or its links do not hold."""

    seq: int


Reading: TypeAlias = Following | Behind | Forked | Gone


class Removed(msgspec.Struct, frozen=True):
    """The room and all that belonged to it are no more."""


class Beat(msgspec.Struct, frozen=True):
    """The service clock, and the rooms that wanted to be woken by now."""

    served_ms: int
    due: tuple[str, ...]


class EventLog:
    """All logs of one store."""

    def __init__(self, redis: Redis) -> None:
        self._batch = Batch(redis)
        self._append = _script("append.lua")
        self._beat = _script("beat.lua")
        self._remove = _script("remove.lua")

    async def append(self, wanted: Append) -> Answer:
        """Try once. `StoreError` means that the answer is unknown: try again as it is."""
        keys = room_keys(wanted.room)
        shard = keys.shard
        reply = await self._batch.run(
            self._append,
            (keys.log, keys.cmd, shard.due, shard.clock, shard.lobby),
            (
                wanted.mode,
                wanted.room,
                wanted.before.seq,
                wanted.before.chain,
                wanted.commit_id,
                wanted.chain,
                wanted.blob,
                wanted.origin,
                wanted.n,
                "" if wanted.not_before_ms is None else wanted.not_before_ms,
                _deadline(wanted),
                wanted.summary,
                wanted.ttl_ms,
                shard.wake,
                *(() if wanted.stamps is None else msgspec.structs.astuple(wanted.stamps)),
            ),
        )
        return _answer(reply)

    async def read(self, room: str, place: Point = START, *, page: int = PAGE) -> Reading:
        """What the log holds after the reader's place."""
        log = room_keys(room).log
        first = max(place.seq, 1)
        found = await self._batch.ask("XRANGE", log, f"{first}-0", "+", "COUNT", page + 1)
        entries = tuple(map(_entry, found))
        if not entries:
            newest = await self._batch.ask("XREVRANGE", log, "+", "-", "COUNT", 1)
            return Behind(_entry(newest[0])) if newest else Gone()
        if place.seq > 0:
            known, *later = entries
            if known.point != place:
                return Forked(place.seq)
            entries = tuple(later)
        before = place
        for entry in entries:
            if not entry.follows(before):
                return Forked(entry.seq)
            before = entry.point
        return Following(entries, more=len(found) == page + 1)

    async def beat(self, shard: int) -> Beat:
        """Move the shard's clock on, if nobody did so just now."""
        keys = shard_keys(shard)
        reply = await self._batch.run(self._beat, (keys.clock, keys.due), (BEAT_MS, GIVEN_OUT_MS))
        return Beat(reply[1], tuple(room.decode() for room in reply[2:]))

    async def remove(self, room: str, place: Point) -> Removed | Conflict | Gone:
        """End a room: log, commands, chat, secret and lobby entry go together."""
        keys = room_keys(room)
        reply = await self._batch.run(
            self._remove,
            (keys.log, keys.cmd, keys.chat, keys.secret, keys.shard.due, keys.shard.lobby),
            (room, place.seq, place.chain),
        )
        match reply:
            case [b"OK"]:
                return Removed()
            case [b"CONFLICT", seq, chain]:
                return Conflict(seq, chain)
        return Gone()

    async def close(self) -> None:
        """Wait for what is on its way to the store."""
        await self._batch.close()


def _deadline(wanted: Append) -> str:
    if wanted.due_at_ms is not None:
        return str(wanted.due_at_ms)
    return "" if wanted.due_in_ms is None else f"+{wanted.due_in_ms}"


def _answer(reply: list[Any]) -> Answer:
    match reply:
        case [b"OK", seq, wall_ms, served_ms]:
            return Appended(seq, Stamps(wall_ms, served_ms))
        case [b"DUPLICATE", seq]:
            return Duplicate(seq)
        case [b"STALE"]:
            return Stale()
        case [b"CONFLICT", seq, chain]:
            return Conflict(seq, chain)
        case [b"EARLY", ms_left]:
            return Early(ms_left)
        case [b"GONE"]:
            return Gone()
        case [b"EXISTS"]:
            return Exists()
    raise ValueError(f"the append script answered {reply!r}")


def _entry(found: tuple[bytes, dict[bytes, bytes] | list[bytes]]) -> Entry:
    key, pairs = found
    fields = pairs if isinstance(pairs, dict) else dict(zip(pairs[::2], pairs[1::2], strict=True))
    seq, _, _ = key.partition(b"-")
    return Entry(
        seq=int(seq),
        commit_id=fields[b"i"],
        chain=fields[b"c"],
        blob=fields[b"b"],
        stamps=Stamps(int(fields[b"t"]), int(fields[b"u"])),
    )
