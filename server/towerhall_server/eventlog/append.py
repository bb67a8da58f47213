"""Packs calls of scripts, and reads their replies as answers. It makes no call itself."""

from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from towerhall_server.eventlog.answers import (
    Answer,
    Append,
    Appended,
    Beat,
    Conflict,
    Early,
    Exists,
    Gone,
    Lost,
    Mistimed,
)
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.eventlog.keys import LOBBY, room_keys
from towerhall_server.eventlog.shared import UNCHANGED
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import Argument, Script, arguments, command_of, script

BEAT_MS: Final = 900
GIVEN_OUT_MS: Final = 5000
RESTORE_MS: Final = 12 * 3_600_000
"""Milliseconds. A lost room is restored if its newest commit is younger than this."""
ENDED_MS: Final = RESTORE_MS + 3_600_000
"""Milliseconds for which a removed room stays marked as ended. One hour longer than the age limit
of a restore, because the clock of the store may be set back."""
APPEND_ARGUMENTS: Final = 12
"""Arguments after the keys: mode, place, stamps, commit, and further notes. Creating a
room takes one more."""

MOVE_ARGUMENTS: Final = 8
"""Arguments of a move after its key: the entry before, and the new one."""


def script_of(name: str) -> Script:
    """Load one of the scripts beside this file."""
    return script((files("towerhall_server.eventlog") / "lua" / name).read_text())


ADVANCE: Final = script_of("advance.lua")
APPEND: Final = script_of("append.lua")
BEAT: Final = script_of("beat.lua")
KEEP: Final = script_of("keep.lua")
LOSE: Final = script_of("lose.lua")
MOVE: Final = script_of("move.lua")
NOW: Final = script_of("now.lua")
PROBE: Final = script_of("probe.lua")
SAY: Final = script_of("chat.lua")
REMOVE: Final = script_of("remove.lua")
RESTORE: Final = script_of("restore.lua")
SNAPSHOT: Final = script_of("snapshot.lua")


def append_call(wanted: Append, node: str) -> Call:
    """Pack one attempt of that node to append. Every move makes one, so the parts that appends
    share are packed once."""
    before, entry = wanted.before, wanted.entry
    seq, blob = b"%d" % before.seq, entry.blob
    head = _append_head(wanted.room, node, wanted.mode)
    rest = wanted.not_before_ms, wanted.due_at_ms, wanted.summary, wanted.ttl_ms
    command = _APPEND % (
        *(head, len(seq), seq, before.chain, _stamps(entry.stamps)),
        *(len(entry.commit_id), entry.commit_id, entry.chain, len(blob), blob),
        _append_end(*rest),
    )
    if wanted.mode == "create":
        command += arguments(wanted.owed)
    return Call(command, APPEND)


def move_call(wanted: Append, node: str, *, is_heard: bool) -> Call:
    """Pack one attempt to append a move. `is_heard` tells whether other nodes listen."""
    before, entry = wanted.before, wanted.entry
    place, own, blob = b"%d-0" % before.seq, b"%d-0" % entry.seq, entry.blob
    head, end = _move_ends(wanted.room, node, is_heard)
    command = _MOVE % (
        *(head, len(place), place, before.chain, len(own), own),
        *(len(entry.commit_id), entry.commit_id, entry.chain, len(blob), blob),
        *(_stamps(entry.stamps), end),
    )
    return Call(command, MOVE)


def restore_call(lost: Lost) -> Call:
    """Begin a lost log anew with its first entry."""
    keys, first = room_keys(lost.room), lost.first
    shard = keys.shard
    touched = (keys.log, keys.secret, keys.ended, shard.due, shard.clock, shard.lobby)
    entry = (first.commit_id, first.chain, first.blob, first.stamps.wall_ms, first.stamps.served_ms)
    rest = (lost.newest_wall_ms, RESTORE_MS, lost.secret, lost.due_at_ms, lost.summary, lost.ttl_ms)
    return run_call(RESTORE, touched, lost.room, LOBBY, *entry, *rest)


def run_call(script: Script, keys: tuple[str, ...], *rest: Argument) -> Call:
    count = 3 + len(keys) + len(rest)
    tail = arguments(len(keys), *keys, *rest)
    return Call(command_of(count, script.by_digest, tail), script)


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
def _append_head(room: str, node: str, mode: str) -> bytes:
    """The first arguments of all appends of a node to a room."""
    keys = room_keys(room)
    shard = keys.shard
    creates = mode == "create"
    touched = [keys.log, keys.secret, shard.due, shard.clock, shard.lobby]
    if creates:
        touched.append(shard.owed)
    names = (room, shard.wake, LOBBY, node)
    count = 3 + len(touched) + len(names) + APPEND_ARGUMENTS + creates
    return command_of(count, APPEND.by_digest, arguments(len(touched), *touched, *names, mode))


@lru_cache(maxsize=1 << 14)
def _move_ends(room: str, node: str, is_heard: bool) -> tuple[bytes, bytes]:
    """The first arguments of all moves in a room, and the last ones."""
    keys = room_keys(room)
    told = (keys.shard.wake, f"{node} {room} e") if is_heard else ()
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


def beat_of(reply: list[Any]) -> Beat:
    _, served_ms, wall_ms, *rooms = reply
    return Beat(Stamps(wall_ms, served_ms), tuple(room.decode() for room in rooms))


def entry_of(found: tuple[bytes, list[bytes]]) -> Entry:
    key, pairs = found
    fields = dict(zip(pairs[::2], pairs[1::2], strict=True))
    seq, _, _ = key.partition(b"-")
    return Entry(
        seq=int(seq),
        commit_id=fields[b"i"],
        chain=fields[b"c"],
        blob=fields[b"b"],
        stamps=Stamps(int(fields[b"t"]), int(fields[b"u"])),
    )
