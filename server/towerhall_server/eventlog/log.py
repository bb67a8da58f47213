"""A room's log in the store: append, read, clock, end of life, and what else belongs to a room.

The log is the lock. There is no owner of a room: any node may append, and the script decides which
commit gets the next seq. Three things make this safe. An append names the seq *and* the chain that
it follows, so a node that was away, or whose store went back in time, conflicts instead of forking
the log. An append is recognised when it is repeated, so a lost reply is answered by asking again
with the same bytes. A read starts *at* the reader's own place and checks every link, so that a log
that went back is not taken for one with nothing new.

What fails, fails as `StoreError`, and its answer is then unknown. Appends, reads, beats, removals,
records and secrets may be asked for again as they are; only a line of chat may come out twice.

No rules, no rooms' state, and no retrying live here: an answer that is not known is the caller's to
ask for again. Bytes and sockets are further down: `commands`, `batch`, `connection`.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

import msgpack

from towerhall_server.eventlog.answers import (
    Answer,
    Append,
    Appended,
    Beat,
    Behind,
    Conflict,
    Duplicate,
    Early,
    Exists,
    Following,
    Forked,
    Gone,
    Line,
    Reading,
    Removed,
    Stale,
    line_of,
)
from towerhall_server.eventlog.batch import Batch, Call, Later, give
from towerhall_server.eventlog.calls import (
    BEAT,
    BEAT_MS,
    GIVEN_OUT_MS,
    REMOVE,
    SAY,
    answer_of,
    append_call,
    beat_of,
    entry_of,
    run_call,
)
from towerhall_server.eventlog.commands import Argument, packed
from towerhall_server.eventlog.connection import Connection
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.keys import CHAT, LOBBY, NODES, SHARDS, room_keys, shard_keys
from towerhall_server.eventlog.quotas import Quota, take_call
from towerhall_server.eventlog.wakes import GUESTS

__all__ = [
    "Answer",
    "Append",
    "Appended",
    "Beat",
    "Behind",
    "Conflict",
    "Duplicate",
    "Early",
    "EventLog",
    "Exists",
    "Following",
    "Forked",
    "Gone",
    "Line",
    "Reading",
    "Removed",
    "Stale",
]

NO_LINE: Final = b"0-0"
"""The id of what is no line of the room's chat."""
BEATS_AT_ONCE: Final = 16
"""Shards whose clocks are moved on in one go: that takes the engine less than a third of a ms."""
PAGE: Final = 256
"""Entries per read: a whole game of Five Towers in one."""


class EventLog:
    """All logs of one store, by a URL as redis-py knows them. Connects when it is first asked.

    What this node publishes bears its name.
    """

    def __init__(self, url: str, node: str = "nobody") -> None:
        self.node = node
        self._batch = Batch(Connection(url))
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
        """Wait for what is on its way to the store, and part from it."""
        await self._batch.close()

    async def ping(self) -> None:
        """`StoreError` unless the store answers."""
        await self._batch.call(Call(packed("PING")))

    async def append(self, wanted: Append) -> Answer:
        """Try once. `StoreError` means that the answer is unknown: try again as it is."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.ask(wanted, partial(give, answer))
        return await answer

    def ask(
        self,
        wanted: Append,
        answered: Callable[[Answer | StoreError], Later | None],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """The same for those who do not wait: `answered` is called in the moment in which the
        answer is there, and what it returns soon after that, when others have their answers, too;
        `meanwhile` after the store was asked, mostly before that. None of them may fail."""
        self._batch.ask(append_call(wanted, self.node), partial(_understand, answered), meanwhile)

    def leave(self) -> None:
        """What was asked for leaves now, and not at the end of the tick."""
        self._batch.leave()

    async def read(self, room: str, place: Point = START, *, page: int = PAGE) -> Reading:
        """What the log holds after the reader's place."""
        log = room_keys(room).log
        first = max(place.seq, 1)
        while not (found := await self._ask("XRANGE", log, f"{first}-0", "+", "COUNT", page + 1)):
            newest = await self._ask("XREVRANGE", log, "+", "-", "COUNT", 1)
            if not newest:
                return Gone()
            top = entry_of(newest[0])
            # Else somebody has healed it between the two questions.
            if top.seq < first:
                return Behind(top)
        entries = tuple(map(entry_of, found))
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

    async def remove(self, room: str, place: Point) -> Removed | Conflict | Gone:
        """End a room: log, commands, chat, secret and lobby entry go together. A record stays."""
        keys = room_keys(room)
        shard = keys.shard
        touched = (keys.log, keys.cmd, keys.chat, keys.secret, shard.due, shard.lobby)
        call = run_call(REMOVE, touched, room, place.seq, place.chain, LOBBY)
        reply = await self._batch.call(call)
        match reply:
            case [b"OK"]:
                return Removed()
            case [b"CONFLICT", seq, chain]:
                return Conflict(seq, chain)
        return Gone()

    async def beat(self, shard: int) -> Beat:
        """Move the shard's clock on, if nobody did so just now."""
        return beat_of(await self._batch.call(self._beats[shard]))

    async def beat_all(self) -> dict[int, Beat]:
        """The same for all shards. One that did not answer is missing, unless none did.

        A few go at a time: all together they would hold up every move for some milliseconds.
        """
        beats: dict[int, Beat] = {}
        for first in range(0, SHARDS, BEATS_AT_ONCE):
            replies = await self._batch.call_all(self._beats[first : first + BEATS_AT_ONCE])
            answered = {
                shard: beat_of(reply)
                for shard, reply in enumerate(replies, first)
                if not isinstance(reply, StoreError)
            }
            beats |= answered
            if not beats:
                raise replies[0]
            if not answered:
                break
        return beats

    async def summaries(self) -> dict[str, bytes]:
        """What the lobby shows, by room."""
        found: dict[str, bytes] = {}
        for reply in await self._batch.call_all(self._lobbies):
            if isinstance(reply, StoreError):
                raise reply
            found.update(zip(map(bytes.decode, reply[::2]), reply[1::2], strict=True))
        return found

    async def rooms(self) -> tuple[str, ...]:
        """The codes of all rooms: each of them is due for something, if only for its end."""
        found: list[str] = []
        for reply in await self._batch.call_all(self._dues):
            if isinstance(reply, StoreError):
                raise reply
            found += map(bytes.decode, reply)
        return tuple(found)

    async def keep_secret(self, room: str, secret: bytes, ttl_ms: int) -> bool:
        """Keep it if there is none yet. After a `StoreError` look with `secret` whose is there."""
        key = room_keys(room).secret
        return await self._ask("SET", key, secret, "NX", "PX", ttl_ms) is not None

    async def secret(self, room: str) -> bytes | None:
        """What only the server knows of a room; it ends with the room."""
        found: bytes | None = await self._ask("GET", room_keys(room).secret)
        return found

    async def keep_record(self, room: str, data: bytes, ttl_ms: int) -> None:
        """Keep what remains of a finished game. It outlives the log."""
        await self._ask("SET", room_keys(room).record, data, "PX", ttl_ms)

    async def record(self, room: str) -> bytes | None:
        found: bytes | None = await self._ask("GET", room_keys(room).record)
        return found

    async def say(self, room: str, text: bytes, ttl_ms: int) -> Line | None:
        """Add a line to the room's chat; None if there is no such room."""
        keys = room_keys(room)
        call = run_call(SAY, (keys.log, keys.chat), room, CHAT, text, ttl_ms)
        name = await self._batch.call(call)
        return None if name is None else line_of(name, text)

    def hint(self, room: str, text: bytes) -> None:
        """Tell everybody in the room something that is not kept. It may be lost."""
        self._publish(CHAT, msgpack.packb([room.encode(), NO_LINE, text]))

    async def said(self, room: str, count: int = 50) -> tuple[Line, ...]:
        """The last lines of the room's chat, oldest first."""
        chat = room_keys(room).chat
        newest = await self._ask("XREVRANGE", chat, "+", "-", "COUNT", count)
        return tuple(line_of(name, fields[1]) for name, fields in reversed(newest))

    async def claim(self, room: str) -> int:
        """A number for a new connection to the room: higher than that of any before it."""
        number: int = await self._ask("INCR", room_keys(room).shard.claims)
        return number

    async def take(self, quotas: tuple[Quota, ...]) -> int:
        """One token of each bucket: 0, or the milliseconds until all have one, and none is taken.
        After a `StoreError` they may be taken or not."""
        wait_ms: int = await self._batch.call(take_call(quotas))
        return wait_ms

    def tell(self, room: str, guests: bytes) -> None:
        """Tell the other nodes who looks at the room here. It may be lost."""
        data = f"{self.node} {room} ".encode() + GUESTS + guests
        self._publish(room_keys(room).shard.wake, data)

    def be_there(self) -> None:
        """Tell the other nodes that there is this one. It may be lost."""
        self._publish(NODES, self.node.encode())

    def _publish(self, channel: str, data: bytes) -> None:
        told = self._batch.call(Call(packed("PUBLISH", channel, data)))
        told.add_done_callback(lambda told: told.cancelled() or told.exception())

    def call(self, call: Call) -> "asyncio.Future[Any]":
        """Ask for something that belongs to no room: whoever needs it knows what."""
        return self._batch.call(call)

    async def _ask(self, *command: Argument) -> Any:
        return await self._batch.call(Call(packed(*command)))


def _understand(
    answered: Callable[[Answer | StoreError], Later | None], reply: Any
) -> Later | None:
    return answered(reply if isinstance(reply, StoreError) else answer_of(reply))
