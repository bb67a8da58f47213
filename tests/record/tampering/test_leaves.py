"""Leaves of a record are flipped, one by one: in the file as it is, and inside every commit."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples, is_long
from tests.record.record_games import GAMES, SMALL, Tape, record_of_story, told
from tests.record.tampering.forging import (
    Path,
    codes,
    flipped,
    kept_of,
    leaves,
    plain_bytes,
    record_of,
    replace,
    value_at,
    with_blob,
    with_flip,
)
from tests.record.test_verify_table_lies import eventful
from towerhall_server.eventlog.entry import Entry
from towerhall_server.record.verify import verify

CREATION: Final = {
    2: "the code under which the room was found",
    5: "options that were changed later, or that changed nothing",
    7: "settings that nothing came of",
    9: "the key of a private room",
    10: "for whom a seat was reserved",
    11: "for whom a seat was reserved",
    12: "bots",
    13: "whether it started by itself, where it did not come to that",
    14: "the room before this one",
    15: "whose lobby it belongs to",
    16: "whether people are named by aliases",
}
"""Fields of the creation that one server alone has said: nothing in the log depends on them."""


def shown_by_a_mark_alone(document: Any, path: Path) -> bool:
    """Whether no rule can tell this leaf of a commit from another one."""
    match path:
        case (0, 2 | 3):
            return True  # the sender's instance and number: any that were not used before
        case (1, at, *rest) if rest:
            match document[1][at][0], rest[0]:
                case "room_created", field:
                    return field in CREATION
                case "person_sat", 3:
                    return True  # what people call themselves
                case "rematch_made", 1:
                    return True  # which room was made
        case (4, "tilt"):
            return True  # of the tile duel: two that mean the same
    return False


def commit_leaves(tape: Tape) -> Iterator[tuple[int, Path]]:
    for entry in tape.entries:
        for path in leaves(msgspec.msgpack.decode(entry.blob)):
            yield entry.seq, path


def forgery(tape: Tape, seq: int, path: Path) -> bytes:
    document = msgspec.msgpack.decode(tape.entries[seq - 1].blob)
    return record_of(tape, with_blob(tape, seq, plain_bytes(with_flip(document, path))))


def check_leaf(tape: Tape, seq: int, path: Path) -> bool:
    """Whether the record alone shows it. If not, it is a leaf that is named, and a mark does."""
    record = forgery(tape, seq, path)
    if codes(record):
        return True
    document = msgspec.msgpack.decode(tape.entries[seq - 1].blob)
    assert shown_by_a_mark_alone(document, path), (seq, path, value_at(document, path))
    assert codes(record, kept_of(tape)) == {"other_mark"}
    return False


@pytest.mark.parametrize("seq", range(1, len(told(SMALL).entries) + 1))
def test_every_leaf_of_every_commit_is_bound(seq: int) -> None:
    found = [
        check_leaf(told(SMALL), seq, path) for at, path in commit_leaves(told(SMALL)) if at == seq
    ]
    assert sum(found) > 5


EVENTFUL: Final = list(commit_leaves(eventful()))


@settings(max_examples=examples(20, 400))
@given(st.sampled_from(EVENTFUL))
def test_any_leaf_of_an_eventful_room_is_bound(leaf: tuple[int, Path]) -> None:
    check_leaf(eventful(), *leaf)


MANY: Final = 120
DOCUMENT: Final = msgspec.json.decode(record_of_story(SMALL))


@pytest.mark.parametrize("part", sorted(DOCUMENT))
def test_leaves_of_the_file_are_checked(part: str) -> None:
    """All of a short part. Of thousands that are alike, some in each run."""
    found = [path for path in leaves(DOCUMENT) if path[0] == part]
    step = 1 if is_long() else 1 + len(found) // MANY
    for path in found[Random().randrange(step) :: step]:
        changed = with_flip(DOCUMENT, path)
        assert flipped(value_at(DOCUMENT, path)) != value_at(DOCUMENT, path)
        assert verify(msgspec.json.encode(changed), GAMES), path


def with_other_id(entry: Entry) -> Entry:
    return replace(entry, commit_id=flipped(entry.commit_id))


def later_by_the_wall(entry: Entry) -> Entry:
    return replace(entry, stamps=replace(entry.stamps, wall_ms=entry.stamps.wall_ms + 1))


def earlier_in_the_game(entry: Entry) -> Entry:
    return replace(entry, stamps=replace(entry.stamps, served_ms=entry.stamps.served_ms - 1))


@pytest.mark.parametrize("change", [with_other_id, later_by_the_wall, earlier_in_the_game])
def test_an_id_or_a_time_of_a_relinked_log_is_shown_by_a_mark(
    change: Callable[[Entry], Entry],
) -> None:
    tape = told(SMALL)
    for at, entry in enumerate(tape.entries[:-1]):
        record = record_of(tape, [*tape.entries[:at], change(entry), *tape.entries[at + 1 :]])
        assert codes(record) <= {"early", "time"}
        assert "other_mark" in codes(record, kept_of(tape))
