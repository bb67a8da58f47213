"""Scripts as the calls that run them, and their replies as answers. No store is known here."""

from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from towerhall_server.eventlog.answers import (
    Answer,
    Append,
    Appended,
    Beat,
    Conflict,
    Duplicate,
    Early,
    Exists,
    Gone,
    Stale,
)
from towerhall_server.eventlog.batch import Call
from towerhall_server.eventlog.commands import Argument, Script, arguments, command_of, script
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.keys import LOBBY, room_keys

BEAT_MS: Final = 900
GIVEN_OUT_MS: Final = 5000
UNCHANGED: Final = "="
APPEND_ARGUMENTS: Final = 14
"""Those after the names: mode, place, commit, command, and what else is to be noted."""


def script_of(name: str) -> Script:
    """One of the scripts beside this file."""
    return script((files("towerhall_server.eventlog") / name).read_text())


APPEND: Final = script_of("append.lua")
BEAT: Final = script_of("beat.lua")
SAY: Final = script_of("chat.lua")
REMOVE: Final = script_of("remove.lua")


def append_call(wanted: Append, node: str) -> Call:
    """One attempt to append, by that node. Each move makes one: what is the same for many of them
    is packed once, and what differs in one go."""
    before, blob, origin = wanted.before, wanted.blob, wanted.origin.encode()
    seq, n = b"%d" % before.seq, b"%d" % wanted.n
    head = _append_head(wanted.room, node, wanted.mode)
    rest = wanted.not_before_ms, _deadline(wanted), wanted.summary, wanted.ttl_ms, wanted.stamps
    command = _APPEND % (
        *(head, len(seq), seq, before.chain, len(wanted.commit_id), wanted.commit_id),
        *(wanted.chain, len(blob), blob, len(origin), origin, len(n), n, _append_end(*rest)),
    )
    return Call(command, APPEND)


def run_call(script: Script, keys: tuple[str, ...], *rest: Argument) -> Call:
    count = 3 + len(keys) + len(rest)
    tail = arguments(len(keys), *keys, *rest)
    return Call(command_of(count, script.by_digest, tail), script)


_CHAIN: Final = b"$16\r\n%b\r\n"
_ANY: Final = b"$%d\r\n%b\r\n"
"""An argument: a chain was made, or compared with one that was made; others may have any length."""
_APPEND: Final = b"%b" + _ANY + _CHAIN + _ANY + _CHAIN + 3 * _ANY + b"%b"


@lru_cache(maxsize=1 << 14)
def _append_head(room: str, node: str, mode: str) -> bytes:
    """What the appends of a node to a room begin with."""
    keys = room_keys(room)
    shard = keys.shard
    touched = (keys.log, keys.cmd, keys.secret, shard.due, shard.clock, shard.lobby)
    names = (room, shard.wake, LOBBY, node)
    count = 3 + len(touched) + len(names) + APPEND_ARGUMENTS
    return command_of(count, APPEND.by_digest, arguments(len(touched), *touched, *names, mode))


@lru_cache(maxsize=1 << 8)
def _append_end(
    not_before_ms: int | None,
    deadline: str,
    summary: bytes | None,
    ttl_ms: int,
    stamps: Stamps | None,
) -> bytes:
    """What they end with: mostly the same in all rooms."""
    return arguments(
        "" if not_before_ms is None else not_before_ms,
        deadline,
        UNCHANGED if summary is None else summary,
        ttl_ms,
        "" if stamps is None else stamps.wall_ms,
        "" if stamps is None else stamps.served_ms,
    )


def _deadline(wanted: Append) -> str:
    if wanted.due_at_ms is not None:
        return str(wanted.due_at_ms)
    return "" if wanted.due_in_ms is None else f"+{wanted.due_in_ms}"


def answer_of(reply: Any) -> Answer | StoreError:
    """What the script says; an error if it says what nobody here knows."""
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
    return StoreError(f"the append script answered {reply!r}")


def beat_of(reply: list[Any]) -> Beat:
    return Beat(reply[1], tuple(room.decode() for room in reply[2:]))


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
