"""The scripts that run inside the store, their calls, and their replies as answers.

It makes no call itself. How an entry is appended is in `append`.
"""

from importlib.resources import files
from typing import Any, Final

from towerhall_server.eventlog.answers import Beat, Lost
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.eventlog.keys import LOBBY, room_keys
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, Script, arguments, command_of, script

BEAT_MS: Final = 900
GIVEN_OUT_MS: Final = 5000
RESTORE_MS: Final = 12 * 3_600_000
"""Milliseconds. A lost room is restored if its newest commit is younger than this."""
ENDED_MS: Final = RESTORE_MS + 3_600_000
"""Milliseconds for which a removed room stays marked as ended. One hour longer than the age limit
of a restore, because the clock of the store may be set back."""


def script_of(name: str) -> Script:
    """Load one of the scripts beside this file."""
    return script((files("towerhall_server.eventlog") / "lua" / name).read_text())


ADVANCE: Final = script_of("advance.lua")
BEAT: Final = script_of("beat.lua")
CONFIRM: Final = script_of("confirm.lua")
KEEP: Final = script_of("keep.lua")
LOSE: Final = script_of("lose.lua")
NOW: Final = script_of("now.lua")
PROBE: Final = script_of("probe.lua")
SAY: Final = script_of("chat.lua")
REMOVE: Final = script_of("remove.lua")
RESTORE: Final = script_of("restore.lua")
SNAPSHOT: Final = script_of("snapshot.lua")


def restore_call(lost: Lost) -> Call:
    """Begin a lost log anew with its first entry."""
    keys, first = room_keys(lost.room), lost.first
    shard = keys.shard
    touched = (keys.log, keys.secret, keys.ended, shard.due, shard.clock, shard.lobby)
    entry = (first.commit_id, first.chain, first.blob, first.stamps.wall_ms, first.stamps.served_ms)
    rest = (lost.newest_wall_ms, RESTORE_MS, lost.secret, lost.due_at_ms, lost.summary, lost.ttl_ms)
    return run_call(RESTORE, touched, lost.room, LOBBY, *entry, *rest, is_durable=True)


def run_call(
    script: Script, keys: tuple[str, ...], *rest: Argument, is_durable: bool = False
) -> Call:
    count = 3 + len(keys) + len(rest)
    tail = arguments(len(keys), *keys, *rest)
    return Call(command_of(count, script.by_digest, tail), script, is_durable=is_durable)


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
