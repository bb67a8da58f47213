"""A room's log in the store: append, read, clock, removal, and the room's other keys.

The log is the lock. A room has no owner: any node may append, and the script decides which commit
gets the next seq. Three things make this safe. An append names the seq *and* the chain that it
follows: a node that was away, or whose store went back in time, conflicts instead of forking the
log. An append is idempotent, so after a lost reply the same bytes are sent again. A read starts
*at* the reader's own place and checks every link, so a log that went back is noticed.

All failures raise `StoreError`, and the outcome is then unknown. Appends, reads, beats, removals,
records and secrets may be retried unchanged; only a line of chat may appear twice.

No rules, no state of rooms, and no retries live here: the caller retries. How an entry is appended
is in `append`. Bytes and sockets are further down, in `store`.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import msgpack

from towerhall_server.eventlog.answers import (
    Answer,
    Append,
    Beat,
    Behind,
    Conflict,
    Gone,
    Line,
    Lost,
    Reading,
    Removed,
    line_of,
    reading_of,
)
from towerhall_server.eventlog.append import Appender, Publish, news_of
from towerhall_server.eventlog.beats import LOBBIES_AT_ONCE, ask_all, beat_all
from towerhall_server.eventlog.buckets import Quota, take_call
from towerhall_server.eventlog.entry import START, Entry, Point
from towerhall_server.eventlog.keepsakes import Memory
from towerhall_server.eventlog.keys import (
    CHAT,
    LOBBY,
    NODES,
    PEOPLE,
    SHARDS,
    room_keys,
    shard_keys,
    shard_of,
)
from towerhall_server.eventlog.notifications import GUESTS, Wake, listen
from towerhall_server.eventlog.scripts import (
    ADVANCE,
    BEAT,
    BEAT_MS,
    CONFIRM,
    ENDED_MS,
    GIVEN_OUT_MS,
    KEEP,
    LOSE,
    NOW,
    PROBE,
    REMOVE,
    RESTORE_MS,
    SAY,
    SNAPSHOT,
    beat_of,
    entry_of,
    restore_call,
    run_call,
)
from towerhall_server.eventlog.shard_news import ShardNews
from towerhall_server.store.batch import Call
from towerhall_server.store.cluster import Cluster
from towerhall_server.store.errors import StoreError
from towerhall_server.store.opening import is_confirmed, may_move, open_store
from towerhall_server.store.resp import Argument, packed

NO_LINE: Final = b"0-0"
"""An id that no line of the room's chat has."""
LONGEST_WAIT_SECONDS: Final = 1.0
"""Longest wait between two retries of one request."""
FAILOVER_WAIT_SECONDS: Final = 0.25
"""The same if another engine takes over from one that is down."""
Found: TypeAlias = Sequence[Any]
"""Entries as the store returns them."""
PAGE: Final = 256
"""Entries per read: a whole game of Five Towers in one."""


class EventLog:
    """All logs of one store, by a URL in redis-py's form. Connects at the first call.

    Published messages carry the name of this node.
    """

    def __init__(self, url: str, node: str = "unnamed") -> None:
        self.node = node
        self._url = url
        self.fails_over = may_move(url)
        """Whether another engine takes over from one that is down."""
        self.longest_wait_seconds = (
            FAILOVER_WAIT_SECONDS if self.fails_over else LONGEST_WAIT_SECONDS
        )
        self._batch = open_store(url)
        self._shards = ShardNews(self._batch, node) if isinstance(self._batch, Cluster) else None
        """Only a cluster has channels for each shard."""
        self._publish_by: Publish = "PUBLISH" if self._shards is None else "SPUBLISH"
        self._is_confirmed = is_confirmed(url)
        """Whether the store answers appends only once replicas have them."""
        confirmed = self._tell_of if self._is_confirmed else None
        self.appender = Appender(self._batch, node, self._publish_by, confirmed)
        self.memory = Memory(self._batch.call)
        shards = [shard_keys(shard) for shard in range(SHARDS)]
        self._beats = [run_call(BEAT, (s.clock, s.due), BEAT_MS, GIVEN_OUT_MS) for s in shards]
        self._lobbies = [Call(packed("HGETALL", s.lobby)) for s in shards]
        self._dues = [Call(packed("ZRANGE", s.due, 0, -1)) for s in shards]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for calls under way, then close the connection."""
        await self.memory.close()
        await self._batch.close()

    async def ping(self) -> None:
        """Raise `StoreError` unless the store answers."""
        await self._batch.call(Call(packed("PING")))

    async def probe(self) -> None:
        """Raise `StoreError` unless the store accepts writes; `StoreFullError` if it is full."""
        await self._batch.call(run_call(PROBE, ()))

    async def append(self, wanted: Append) -> Answer:
        """Try once. After `StoreError` the outcome is unknown: retry unchanged."""
        return await self.appender.append(wanted)

    async def read(
        self, room: str, place: Point = START, *, page: int = PAGE, found: Found = ()
    ) -> Reading:
        """Return the entries after the reader's place. `found` are entries that `snapshot` has
        fetched from there."""
        log = room_keys(room).log
        first = max(place.seq, 1)
        while not (found := found or await self._ask(*_page(log, first, page))):
            newest = await self._ask("XREVRANGE", log, "+", "-", "COUNT", 1)
            if not newest:
                return Gone()
            top = entry_of(newest[0])
            # Another node may have healed it between the two reads.
            if top.seq < first:
                return Behind(top)
        entries = tuple(map(entry_of, found))
        if self._is_confirmed and entries[-1].seq > place.seq:
            await self._confirm(log, entries[-1])
        return reading_of(place, entries, more=len(found) == page + 1)

    async def _confirm(self, log: str, newest: Entry) -> None:
        """Raise `StoreError` unless replicas have an entry that was read: its append may still wait
        for them, and nobody may see it before."""
        place = f"{newest.seq}-0", newest.chain
        if not await self._batch.call(run_call(CONFIRM, (log,), *place, is_durable=True)):
            raise StoreError("the log has changed since it was read")

    async def restore(self, lost: Lost) -> bool:
        """Put a lost log back. Returns whether there is a log now: False if the room was removed or
        the store was emptied. Later entries may still be missing and need a heal."""
        # All of it leaves in one write, so another node hardly ever reads a part of the log.
        rest = [self.appender.call(entry) for entry in lost.rest]
        first, *_ = await self._batch.call_all([restore_call(lost), *rest])
        if isinstance(first, StoreError):
            raise first
        return bool(first)

    async def has_ended(self, room: str) -> bool:
        """Whether the room was removed in the last hours."""
        return bool(await self._ask("EXISTS", room_keys(room).ended))

    async def entry(self, room: str, seq: int) -> Entry | None:
        """Return the entry of that seq alone. Its link to the entry before is not checked."""
        found = await self._ask("XRANGE", room_keys(room).log, f"{seq}-0", f"{seq}-0")
        return entry_of(found[0]) if found else None

    async def snapshots(self, room: str) -> tuple[int, ...]:
        """Return the seqs with snapshots, lowest first."""
        found = await self._ask("HKEYS", room_keys(room).snapshots)
        return tuple(sorted(map(int, found)))

    async def snapshot(
        self, room: str, seq: int, *, page: int = PAGE
    ) -> tuple[bytes | None, Found]:
        """Return the snapshot of that seq, and the log from there on, for `read`. Nothing is
        checked."""
        keys = room_keys(room)
        kept = self._batch.call(Call(packed("HGET", keys.snapshots, seq)))
        found = self._batch.call(Call(packed(*_page(keys.log, seq, page))))
        # Pipelined: together they cost one round trip.
        data, entries = await asyncio.gather(kept, found)
        return data, entries

    def keep_snapshot(
        self, room: str, place: Point, data: bytes, outdated: int | None = None
    ) -> "asyncio.Future[int]":
        """Keep a snapshot and drop an outdated one. Returns 0, and keeps nothing, if that place is
        not in the log. Snapshots expire with the log."""
        keys = room_keys(room)
        dropped = "" if outdated is None else outdated
        facts = (place.seq, place.chain, data, dropped)
        return self._batch.call(run_call(SNAPSHOT, (keys.log, keys.snapshots), *facts))

    async def remove(self, room: str, place: Point, owed: bytes = b"") -> Removed | Conflict | Gone:
        """Remove a room: log, commands, chat, secret, snapshots and lobby entry together. The
        record, the debt to the public log and, for some hours, the mark `ended` stay."""
        keys = room_keys(room)
        shard = keys.shard
        own = (keys.log, keys.cmd, keys.chat, keys.secret)
        touched = (*own, shard.due, shard.lobby, keys.ended, keys.snapshots, shard.owed)
        rest = (LOBBY, RESTORE_MS, ENDED_MS, owed)
        call = run_call(REMOVE, touched, room, place.seq, place.chain, *rest)
        reply = await self._batch.call(call)
        match reply:
            case [b"OK"]:
                return Removed()
            case [b"CONFLICT", seq, chain]:
                return Conflict(seq, chain)
        return Gone()

    async def lose(self, room: str, count: int) -> int:
        """Drop the newest entries of a sandbox room, but never the first one. Returns how many
        were dropped. A repeated call drops more."""
        keys = room_keys(room)
        dropped: int = await self._batch.call(run_call(LOSE, (keys.log, keys.snapshots), count))
        return dropped

    async def beat(self, shard: int) -> Beat:
        """Move the shard's clock on, unless another node did so a moment ago."""
        return beat_of(await self._batch.call(self._beats[shard]))

    async def beat_all(
        self,
        shards: Sequence[int] = range(SHARDS),
        *,
        within_seconds: float = 0.0,
        heard: Callable[[int, Beat], None] = lambda shard, beat: None,
    ) -> dict[int, Beat]:
        """Move the clocks of shards on. A shard without an answer is left out; raises if none
        answered. `heard` gets each beat at once, because its clocks go on."""
        calls = {shard: self._beats[shard] for shard in shards}
        return await beat_all(self._batch, calls, heard, within_seconds)

    async def advance(self, clocks: Mapping[int, int]) -> None:
        """Move the clocks of shards forward to these service times."""
        calls = [run_call(ADVANCE, (shard_keys(s).clock,), ms) for s, ms in clocks.items()]
        await self._batch.call_all(calls)

    async def summaries(self) -> dict[str, bytes]:
        """Return the lobby's entries, by room. Rooms of a primary that is down are left out while
        other primaries answer."""
        found: dict[str, bytes] = {}
        await self.each_lobby(lambda shard, rooms: found.update(rooms))
        return found

    async def each_lobby(self, heard: Callable[[int, dict[str, bytes]], None]) -> None:
        """The same, shard by shard. Raises if no primary told all of its shards."""

        def answered(shard: int, reply: Any) -> None:
            heard(shard, dict(zip(map(bytes.decode, reply[::2]), reply[1::2], strict=True)))

        calls = dict(enumerate(self._lobbies))
        problem = await ask_all(self._batch, calls, answered, LOBBIES_AT_ONCE)
        if problem is not None:
            raise problem

    async def rooms(self) -> tuple[str, ...]:
        """Return the codes of all rooms: each has a due time, if only for its end. In part, as
        `summaries`."""
        found: list[str] = []
        for reply in await self._batch.call_lanes(self._dues):
            if isinstance(reply, StoreError):
                continue
            found += map(bytes.decode, reply)
        return tuple(found)

    async def keep_secret(self, room: str, secret: bytes, ttl_ms: int) -> bool:
        """Keep a secret if there is none yet. After a `StoreError`, `secret` tells which one was
        kept. A failover may lose it: creating the room keeps it together with the log."""
        key = room_keys(room).secret
        return await self._ask("SET", key, secret, "NX", "PX", ttl_ms) is not None

    async def secret(self, room: str) -> bytes | None:
        """Return the room's secret. It is removed with the room."""
        found: bytes | None = await self._ask("GET", room_keys(room).secret)
        return found

    async def keep_record(self, room: str, data: bytes, ttl_ms: int, owed: bytes = b"") -> None:
        """Keep the record of a finished game, and its debt to the public log. Both outlive the
        log."""
        keys = room_keys(room)
        touched = (keys.record, keys.shard.owed)
        await self._batch.call(run_call(KEEP, touched, data, ttl_ms, owed, is_durable=True))

    async def improve_record(self, room: str, data: bytes) -> bool:
        """Replace a record by another form, with the same expiry. Returns whether the record still
        existed."""
        keys = room_keys(room)
        call = run_call(KEEP, (keys.record, keys.shard.owed), data, "", "")
        return bool(await self._batch.call(call))

    async def owe(self, room: str, debt: bytes) -> None:
        """Note a debt of a room to the public log. Idempotent."""
        await self._ask("SADD", room_keys(room).shard.owed, debt)

    async def drop_record(self, room: str) -> None:
        """Delete the record. The log of the finished game stays."""
        await self._ask("DEL", room_keys(room).record)

    async def record(self, room: str) -> bytes | None:
        found: bytes | None = await self._ask("GET", room_keys(room).record)
        return found

    async def say(self, room: str, text: bytes, ttl_ms: int) -> Line | None:
        """Add a line to the room's chat; None if there is no such room."""
        keys = room_keys(room)
        publish = self._publish_by, self._chat_channel(room)
        call = run_call(SAY, (keys.log, keys.chat), room, *publish, text, ttl_ms)
        name = await self._batch.call(call)
        return None if name is None else line_of(name, text)

    def hint(self, room: str, text: bytes) -> None:
        """Send viewers of a room on all nodes a message that is not stored. It may be lost."""
        message = msgpack.packb([room.encode(), NO_LINE, text])
        self._publish(self._chat_channel(room), message)

    def _chat_channel(self, room: str) -> str:
        return CHAT if self._shards is None else room_keys(room).shard.said

    async def said(self, room: str, count: int = 50) -> tuple[Line, ...]:
        """Return the last lines of the room's chat, oldest first."""
        chat = room_keys(room).chat
        newest = await self._ask("XREVRANGE", chat, "+", "-", "COUNT", count)
        return tuple(line_of(name, fields[1]) for name, fields in reversed(newest))

    async def unsay(self, room: str, names: Sequence[str]) -> None:
        """Remove lines from the room's chat, by id."""
        if names:
            await self._ask("XDEL", room_keys(room).chat, *names)

    async def claim(self, room: str) -> int:
        """Return the store's time in us, as the arrival of a new connection. Writes nothing."""
        us: int = await self._batch.call(run_call(NOW, (room_keys(room).shard.clock,)))
        return us

    async def take(self, quotas: tuple[Quota, ...]) -> int:
        """Take one token of each bucket and return 0, or take none and return the milliseconds to
        wait. After a `StoreError` the tokens may be taken."""
        call = take_call(quotas)
        if self.is_call_down(call):
            raise StoreError("the primary of the quotas is down")
        wait_ms: int = await self._batch.call(call)
        return wait_ms

    def is_down(self, room: str) -> bool:
        """Whether the primary of a room is down while rooms of another one go on."""
        return self.is_call_down(Call(packed("EXISTS", room_keys(room).log)))

    def is_call_down(self, call: Call) -> bool:
        """The same for a call that belongs to no room."""
        return self._batch.is_down(call)

    def news(self) -> AsyncGenerator[Wake, None]:
        """Listen to the news of other nodes. Raises `StoreError` if the connection is lost: listen
        again. A cluster's shards are heard once they are heeded."""
        return (
            listen(self._url, self.node) if self._shards is None else self._shards.listen(self._url)
        )

    async def heed(self, room: str) -> None:
        """Hear the news of a room from now on. Call this before the room is read."""
        if self._shards is not None:
            await self._shards.want(shard_of(room))

    def heed_only(self, rooms: Iterable[str]) -> None:
        """Hear no news of shards without one of these rooms."""
        if self._shards is not None:
            self._shards.keep({shard_of(room) for room in rooms})

    def tell(self, room: str, guests: bytes) -> None:
        """Tell the other nodes who watches the room here. The message may be lost."""
        data = f"{self.node} {room} ".encode() + GUESTS + guests
        self._publish(room_keys(room).shard.wake, data)

    def be_there(self) -> None:
        """Tell the other nodes that this one is alive. The message may be lost."""
        self._publish_to_all(NODES, self.node.encode())

    def tell_people(self, count: int) -> None:
        """Tell the other nodes how many people are connected to this one. The message may be
        lost."""
        self._publish_to_all(PEOPLE, f"{self.node} {count}".encode())

    def _tell_of(self, wanted: Append) -> None:
        """Tell other nodes of an entry that replicas have."""
        self._publish(room_keys(wanted.room).shard.wake, news_of(wanted, self.node))

    def _publish(self, channel: str, data: bytes) -> None:
        """Publish to the nodes that heed a shard."""
        if self._shards is None:
            self._publish_to_all(channel, data)
        else:
            self._send(packed("SPUBLISH", channel, data))

    def _publish_to_all(self, channel: str, data: bytes) -> None:
        self._send(packed("PUBLISH", channel, data))

    def _send(self, command: bytes) -> None:
        """Send a message that may be lost."""
        sent = self._batch.call(Call(command))
        sent.add_done_callback(lambda sent: sent.cancelled() or sent.exception())

    def call(self, call: Call) -> "asyncio.Future[Any]":
        """Make a call that belongs to no room. The caller interprets the answer."""
        return self._batch.call(call)

    async def _ask(self, *command: Argument) -> Any:
        return await self._batch.call(Call(packed(*command)))


def _page(log: str, first: int, page: int) -> tuple[Argument, ...]:
    """One entry more than a page: the first is the reader's own place."""
    return ("XRANGE", log, f"{first}-0", "+", "COUNT", page + 1)
