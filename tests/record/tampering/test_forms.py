"""One commit, one id and one spelling: what says the same in other bytes is refused, too."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.record.record_games import (
    GAMES,
    SMALL,
    STORIES,
    Tape,
    record_of_story,
    resealed,
    told,
)
from tests.record.tampering.forging import codes, record_of, replace, with_blob
from tests.record.test_verify_table_lies import eventful
from towerhall_server.record.verify import check

SHORTEST = msgspec.msgpack.Encoder(order="sorted").encode


def wide_number(number: int) -> bytes:
    """The same number in eight bytes."""
    return (b"\xd3" if number < 0 else b"\xcf") + (number % (1 << 64)).to_bytes(8, "big")


def long_text(text: str) -> bytes:
    return b"\xdb" + len(text.encode()).to_bytes(4, "big") + text.encode()


def long_bytes(data: bytes) -> bytes:
    return b"\xc6" + len(data).to_bytes(4, "big") + data


def respelled(value: Any, spell: Callable[[Any], bytes | None]) -> bytes:
    """A value in msgpack, with some of its parts spelled otherwise."""
    other = spell(value)
    if other is not None:
        return other
    match value:
        case list():
            items = b"".join(respelled(item, spell) for item in value)
            return (
                b"\xdc" + len(value).to_bytes(2, "big") + items
                if len(value) > 15
                else bytes([0x90 | len(value)]) + items
            )
        case dict():
            pairs = sorted(value.items())
            return bytes([0x80 | len(pairs)]) + b"".join(
                SHORTEST(key) + respelled(item, spell) for key, item in pairs
            )
    return SHORTEST(value)


def backwards(value: Any) -> bytes | None:
    """Maps with their keys in the other order."""
    if not isinstance(value, dict) or len(value) < 2:
        return None
    pairs = sorted(value.items(), reverse=True)
    return bytes([0x80 | len(pairs)]) + b"".join(SHORTEST(k) + SHORTEST(v) for k, v in pairs)


def doubled(value: Any) -> bytes | None:
    """Maps in which the first key stands twice."""
    if not isinstance(value, dict) or not value:
        return None
    pairs = [*sorted(value.items())[:1], *sorted(value.items())]
    return bytes([0x80 | len(pairs)]) + b"".join(SHORTEST(k) + SHORTEST(v) for k, v in pairs)


SPELLINGS: dict[str, Callable[[Any], bytes | None]] = {
    "numbers in eight bytes": lambda one: wide_number(one) if type(one) is int else None,
    "texts with long heads": lambda one: long_text(one) if isinstance(one, str) else None,
    "bytes with long heads": lambda one: long_bytes(one) if isinstance(one, bytes) else None,
    "lists with long heads": lambda one: b"\xdc\0\0" if one == [] else None,
    "maps backwards": backwards,
    "keys twice": doubled,
}


def without_defaults(value: Any) -> Any:
    """Events without the last fields, where these are what they would be by default."""
    cause, room, game, end, command = value
    shorter = [event[:-1] if event[-1] in (b"", "", [], False) else event for event in room]
    return [cause, shorter, game, end, command]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_another_spelling_of_a_commit_is_refused(spelling: str) -> None:
    tape, found = eventful(), []
    for entry in tape.entries[:12]:
        document = msgspec.msgpack.decode(entry.blob)
        blob = respelled(document, SPELLINGS[spelling])
        if blob != entry.blob:
            assert msgspec.msgpack.decode(blob) == document, "it says the same"
            found.append(codes(record_of(tape, with_blob(tape, entry.seq, blob))))
    assert all(found), "each is refused"
    assert {"form"} in found


def test_fields_that_are_left_out_are_refused() -> None:
    """Some cannot be read at all without them; of the others, a reader knows what they are."""
    tape, found = eventful(), []
    for entry in tape.entries:
        blob = SHORTEST(without_defaults(msgspec.msgpack.decode(entry.blob)))
        if blob != entry.blob:
            found.append(codes(record_of(tape, with_blob(tape, entry.seq, blob))))
    assert all(each in ({"form"}, {"commit"}) for each in found)
    assert {"form"} in found


def test_a_default_that_is_told_is_refused() -> None:
    tape = told(SMALL)
    document = msgspec.msgpack.decode(tape.entries[0].blob)
    at = next(n for n, field in enumerate(document[1][0]) if n > 5 and isinstance(field, dict))
    document[1][0][at] = {"bot_delay_ms": 300, "turn_seconds": 7}
    assert codes(record_of(tape, with_blob(tape, 1, SHORTEST(document)))) == set()
    tape = told(STORIES[4])  # without a clock
    document = msgspec.msgpack.decode(tape.entries[0].blob)
    document[1][0][at] = {"bot_delay_ms": 300, "turn_seconds": 0}
    assert codes(record_of(tape, with_blob(tape, 1, SHORTEST(document)))) == {"form"}


@pytest.mark.parametrize("apart", [1, 7])
def test_one_commit_id_for_two_commits_is_refused(apart: int) -> None:
    tape: Tape = told(SMALL)
    for at in range(0, len(tape.entries) - apart, 5):
        entries = list(tape.entries)
        entries[at + apart] = replace(entries[at + apart], commit_id=entries[at].commit_id)
        report = check(record_of(tape, entries), GAMES)
        (finding,) = report.findings
        assert (finding.code, finding.where) == ("repeated", f"commit {at + apart + 1}")


def test_all_frames_are_looked_at_and_counted() -> None:
    document = msgspec.json.decode(record_of_story(SMALL))
    changed = (3, 9, len(document["frames"]) - 1)
    for at in changed:
        document["frames"][at][5] = {"game": {"lie": 1}}
    (finding,) = check(resealed(document), GAMES).findings
    assert (finding.code, finding.where, finding.count) == ("frame", "frame 4", len(changed))
