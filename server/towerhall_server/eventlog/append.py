"""Appends an entry: packs the attempt, asks the store once, and reads its answer.

The scripts decide which commit gets the next seq, see `lua/append.lua`. No rules and no retries
live here: the caller retries.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgpack

from towerhall_server.eventlog.answers import (
    Answer,
    Append,
    Appended,
    Conflict,
    Early,
    Exists,
    Gone,
    Mistimed,
)
from towerhall_server.eventlog.entry import Stamps
from towerhall_server.eventlog.keys import LOBBY, room_keys
from towerhall_server.eventlog.scripts import script_of
from towerhall_server.eventlog.shared import UNCHANGED
from towerhall_server.store.batch import Call, Later, give
from towerhall_server.store.errors import StoreError
from towerhall_server.store.opening import Store
from towerhall_server.store.resp import arguments, command_of

APPEND: Final = script_of("append.lua")
MOVE: Final = script_of("move.lua")
Publish: TypeAlias = Literal["PUBLISH", "SPUBLISH", ""]
"""The command that tells other nodes of an entry; empty if the script tells nobody."""
APPEND_ARGUMENTS: Final = 12
"""Arguments after the keys: mode, place, stamps, commit, and further notes. Creating a
room takes two more, and the end of a game takes one."""

MOVE_ARGUMENTS: Final = 8
"""Arguments of a move after its key: the entry before, and the new one."""

Answered: TypeAlias = Callable[[Answer | StoreError], Later | None]


class Request(NamedTuple):
    """One attempt, and the callback that gets its answer. No callback may raise."""

    wanted: Append
    answered: Callable[[Answer | Exception], Later | None]
    """Called at once with the answer, or with the error of an attempt that was not sent. Its
    return value is called after the whole batch has its answers."""
    meanwhile: Callable[[], None] | None = None
    """Called after the request was sent, mostly before the answer."""


class Appender:
    """Asks the store to append, in the name of a node."""

    def __init__(
        self,
        batch: Store,
        node: str,
        publish: Publish = "PUBLISH",
        confirmed: Callable[[Append], None] | None = None,
    ) -> None:
        """`publish` is how the scripts tell other nodes. `confirmed` tells them instead, where an
        answer comes only once replicas have the entry: no node may hear of it before."""
        self._batch = batch
        self._node = node
        self._publish: Publish = "" if confirmed else publish
        self._confirmed = confirmed
        self.is_heard = True
        """Whether other nodes may listen. If not, moves are not published."""

    async def append(self, wanted: Append) -> Answer:
        """Try once. After `StoreError` the outcome is unknown: retry unchanged."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.ask(wanted, partial(give, answer))
        return await answer

    def ask(
        self,
        wanted: Append,
        answered: Answered,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """The same with callbacks, see `Request`. It leaves with all other calls of this tick."""
        if wanted.is_move:
            call = move_call(wanted, self._node, self._publish if self.is_heard else "")
            self._batch.ask(call, partial(self._moved, wanted, answered), meanwhile)
        else:
            call = self.call(wanted)
            self._batch.ask(call, partial(self._appended, wanted, answered), meanwhile)

    def ask_now(self, requests: Iterable[Request]) -> None:
        """Send these and all pending requests now, not at the end of the tick."""
        for request in requests:
            try:
                self.ask(*request)
            except Exception as error:  # noqa: BLE001 - the room gets it; others go on
                request.answered(error)
        self._batch.leave()

    def _moved(self, wanted: Append, answered: Answered, reply: Any) -> Later | None:
        if reply == 1:
            self._tell(wanted)
            return answered(Appended(wanted.entry.seq))
        if isinstance(reply, StoreError):
            return answered(reply)
        # The log does not end where the move expects: the whole script tells why.
        self._batch.ask(self.call(wanted), partial(self._appended, wanted, answered))
        return None

    def call(self, wanted: Append) -> Call:
        """Pack an attempt for the whole script."""
        return append_call(wanted, self._node, self._publish)

    def _appended(self, wanted: Append, answered: Answered, reply: Any) -> Later | None:
        answer = reply if isinstance(reply, StoreError) else answer_of(reply)
        if isinstance(answer, Appended):
            self._tell(wanted)
        return answered(answer)

    def _tell(self, wanted: Append) -> None:
        """Tell other nodes of a confirmed entry. Else the script has told them."""
        if self._confirmed is not None and self.is_heard:
            self._confirmed(wanted)


def append_call(wanted: Append, node: str, publish: Publish = "PUBLISH") -> Call:
    """Pack one attempt of that node to append. Every move makes one, so the parts that appends
    share are packed once. `publish` is how other nodes are told."""
    before, entry = wanted.before, wanted.entry
    seq, blob = b"%d" % before.seq, entry.blob
    head = _append_head(wanted.room, node, wanted.mode, publish, wanted.is_end)
    rest = wanted.not_before_ms, wanted.due_at_ms, wanted.summary, wanted.ttl_ms
    command = _APPEND % (
        *(head, len(seq), seq, before.chain, _stamps(entry.stamps)),
        *(len(entry.commit_id), entry.commit_id, entry.chain, len(blob), blob),
        _append_end(*rest),
    )
    if wanted.mode == "create":
        command += arguments(wanted.owed, wanted.secret)
    elif wanted.is_end:
        command += arguments(wanted.room)
    return Call(command, APPEND, is_durable=True)


def move_call(wanted: Append, node: str, publish: Publish = "PUBLISH") -> Call:
    """Pack one attempt to append a move."""
    before, entry = wanted.before, wanted.entry
    place, own, blob = b"%d-0" % before.seq, b"%d-0" % entry.seq, entry.blob
    head, end = _move_ends(wanted.room, node, publish)
    command = _MOVE % (
        *(head, len(place), place, before.chain, len(own), own),
        *(len(entry.commit_id), entry.commit_id, entry.chain, len(blob), blob),
        *(_stamps(entry.stamps), end),
    )
    return Call(command, MOVE, is_durable=True)


def news_of(wanted: Append, node: str) -> bytes:
    """Return what the scripts publish of an entry."""
    entry = wanted.entry
    stamps = entry.stamps.wall_ms, entry.stamps.served_ms
    fields = (entry.seq, entry.commit_id, entry.chain, entry.blob, *stamps)
    return f"{node} {wanted.room} e".encode() + msgpack.packb(fields, use_bin_type=False)


_CHAIN: Final = b"$32\r\n%b\r\n"
_ANY: Final = b"$%d\r\n%b\r\n"
"""A packed argument of any length. Chains have 32 bytes: they were made or compared before."""
_MOVE: Final = b"%b" + _ANY + _CHAIN + 2 * _ANY + _CHAIN + _ANY + 2 * b"%b"
_APPEND: Final = b"%b" + _ANY + _CHAIN + b"%b" + _ANY + _CHAIN + _ANY + b"%b"


def _stamps(stamps: Stamps) -> bytes:
    """Pack both stamps as arguments."""
    wall, served = b"%d" % stamps.wall_ms, b"%d" % stamps.served_ms
    return b"$%d\r\n%b\r\n$%d\r\n%b\r\n" % (len(wall), wall, len(served), served)


@lru_cache(maxsize=1 << 14)
def _append_head(room: str, node: str, mode: str, publish: Publish, is_end: bool) -> bytes:
    """The first arguments of all appends of a node to a room."""
    keys = room_keys(room)
    shard = keys.shard
    creates = mode == "create"
    touched = [keys.log, keys.secret, shard.due, shard.clock, shard.lobby]
    if creates or is_end:
        touched.append(shard.owed if creates else shard.ends)
    names = (room, publish, shard.wake, LOBBY, node)
    rest = APPEND_ARGUMENTS + (2 if creates else is_end)
    count = 3 + len(touched) + len(names) + rest
    return command_of(count, APPEND.by_digest, arguments(len(touched), *touched, *names, mode))


@lru_cache(maxsize=1 << 14)
def _move_ends(room: str, node: str, publish: Publish) -> tuple[bytes, bytes]:
    """The first arguments of all moves in a room, and the last ones."""
    keys = room_keys(room)
    told = (publish, keys.shard.wake, f"{node} {room} e") if publish else ()
    count = 4 + MOVE_ARGUMENTS + len(told)
    return command_of(count, MOVE.by_digest, arguments(1, keys.log)), arguments(*told)


def _append_end(
    not_before_ms: int | None,
    due_at_ms: int | None,
    summary: bytes | None,
    ttl_ms: int,
) -> bytes:
    return arguments(
        "" if not_before_ms is None else not_before_ms,
        "" if due_at_ms is None else due_at_ms,
        UNCHANGED if summary is None else summary,
        ttl_ms,
    )


def answer_of(reply: Any) -> Answer | StoreError:
    """Read the reply of the script. Returns a `StoreError` for an unknown one."""
    match reply:
        case [b"OK", seq]:
            return Appended(seq)
        case [b"CONFLICT", seq, chain]:
            return Conflict(seq, chain)
        case [b"EARLY", ms_left]:
            return Early(ms_left)
        case [b"MISTIMED", wall_ms, served_ms]:
            return Mistimed(Stamps(wall_ms, served_ms))
        case [b"GONE"]:
            return Gone()
        case [b"EXISTS"]:
            return Exists()
    return StoreError(f"the append script answered {reply!r}")
