"""The tools of a forger. Links and seal are made by the functions of the records themselves."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from tests.record.record_games import GAMES, Tape, commits_of, relinked, written
from towerhall_protocol.commands import base64url
from towerhall_protocol.evidence import Evidence, Place
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.live.record_store import make_record
from towerhall_server.record.verify import check
from towerhall_server.room.commits import Commit, encode_commit

replace = msgspec.structs.replace
Path = tuple[str | int, ...]
plain_bytes = msgspec.msgpack.Encoder(order="sorted").encode


def record_of(tape: Tape, entries: Sequence[Entry]) -> bytes:
    """The record that a lying server would write for these entries: linked, sealed and told."""
    linked = relinked(entries)
    try:
        return make_record(GAMES, tape.secret, linked)
    except Exception:  # noqa: BLE001 - a server cannot even tell some of these logs
        return written(tape.record(), linked)


def codes(record: bytes, *seen: Evidence) -> set[str]:
    return {finding.code for finding in check(record, GAMES, seen=seen).findings}


def kept_of(tape: Tape) -> Evidence:
    """The last chain, as the client of an honest player kept it."""
    last = tape.entries[-1]
    return Evidence("", "", "", places=(Place(last.seq, base64url(last.chain)),))


def with_blob(tape: Tape, seq: int, blob: bytes) -> list[Entry]:
    """The log with other bytes at one place."""
    return [replace(one, blob=blob) if one.seq == seq else one for one in tape.entries]


def with_commit(tape: Tape, seq: int, commit: Commit) -> list[Entry]:
    return with_blob(tape, seq, encode_commit(commit))


def delayed(
    entries: Sequence[Entry], seq: int, *, wall_ms: int = 0, served_ms: int = 0
) -> list[Entry]:
    """The log with more time before one commit; those after it keep their distances."""
    return [
        replace(
            one,
            stamps=Stamps(one.stamps.wall_ms + wall_ms, one.stamps.served_ms + served_ms),
        )
        if one.seq >= seq
        else one
        for one in entries
    ]


def first(tape: Tape, wanted: Callable[[Commit], bool]) -> tuple[int, Commit]:
    """The first commit of a kind, and its seq."""
    return next((seq, one) for seq, one in enumerate(commits_of(tape), start=1) if wanted(one))


def has(kind: type[Any]) -> Callable[[Commit], bool]:
    """Whether a commit holds such an event."""
    return lambda commit: any(isinstance(one, kind) for one in (*commit.room, *commit.end))


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place in a document, those of whole maps and arrays included."""
    if path:
        yield path
    steps: Any = ()
    if isinstance(value, dict):
        steps = value.items()
    elif isinstance(value, list):
        steps = enumerate(value)
    for step, item in steps:
        yield from leaves(item, (*path, step))


def value_at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def flipped(value: Any) -> Any:
    """Something of the same type that is as near as can be."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case bytes():
            return bytes([value[0] ^ 1]) + value[1:] if value else b"\1"
        case str():
            return value[:-1] + ("A" if value[-1:] != "A" else "E")
        case list():
            return value[::-1] if value != value[::-1] else [*value, *value, 0]
        case dict():
            return {**value, "more": 1}
    return 0


def with_flip(document: Any, path: Path) -> Any:
    """A copy of a plain document with one leaf flipped."""
    step, *rest = path
    copy: Any = dict(document) if isinstance(document, dict) else list(document)
    copy[step] = with_flip(document[step], tuple(rest)) if rest else flipped(document[step])
    return copy
