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
"""Those of an append that are not the same for all appends of a room."""


def script_of(name: str) -> Script:
    """One of the scripts beside this file."""
    return script((files("towerhall_server.eventlog") / name).read_text())


APPEND: Final = script_of("append.lua")
BEAT: Final = script_of("beat.lua")
SAY: Final = script_of("chat.lua")
REMOVE: Final = script_of("remove.lua")


def append_call(wanted: Append, node: str) -> Call:
    """One attempt to append, by that node."""
    before, stamps = wanted.before, wanted.stamps
    tail = arguments(
        wanted.mode,
        before.seq,
        before.chain,
        wanted.commit_id,
        wanted.chain,
        wanted.blob,
        wanted.origin,
        wanted.n,
        "" if wanted.not_before_ms is None else wanted.not_before_ms,
        _deadline(wanted),
        UNCHANGED if wanted.summary is None else wanted.summary,
        wanted.ttl_ms,
        "" if stamps is None else stamps.wall_ms,
        "" if stamps is None else stamps.served_ms,
    )
    return Call(_append_head(wanted.room, node) + tail, APPEND)


def run_call(script: Script, keys: tuple[str, ...], *rest: Argument) -> Call:
    count = 3 + len(keys) + len(rest)
    tail = arguments(len(keys), *keys, *rest)
    return Call(command_of(count, script.by_digest, tail), script)


@lru_cache(maxsize=1 << 14)
def _append_head(room: str, node: str) -> bytes:
    """All that the appends of a node to a room have in common."""
    keys = room_keys(room)
    shard = keys.shard
    touched = (keys.log, keys.cmd, shard.due, shard.clock, shard.lobby)
    common = arguments(len(touched), *touched, room, shard.wake, LOBBY, node)
    return command_of(12 + APPEND_ARGUMENTS, APPEND.by_digest, common)


def _deadline(wanted: Append) -> str:
    if wanted.due_at_ms is not None:
        return str(wanted.due_at_ms)
    return "" if wanted.due_in_ms is None else f"+{wanted.due_in_ms}"


def answer_of(reply: list[Any]) -> Answer | StoreError:
    """What the script says; an error if it says what nobody here knows."""
    kind = reply[0]
    if kind == b"OK":
        _, seq, wall_ms, served_ms = reply
        return Appended(seq, Stamps(wall_ms, served_ms))
    match reply:
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
