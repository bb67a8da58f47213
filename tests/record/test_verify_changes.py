"""No single change of a record goes unseen, wherever it is and whatever it is."""

import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.record.record_games import (
    GAMES,
    SMALL,
    STORIES,
    record_of_story,
)
from tests.record.tampering.forging import flipped, value_at
from towerhall_server.record.verify import verify


def codes(record: bytes) -> list[str]:
    return [finding.code for finding in verify(record, GAMES)]


def plain(record: bytes) -> Any:
    try:
        return json.loads(record)
    except (ValueError, RecursionError):
        return None


@settings(max_examples=examples(80, 200))
@given(
    st.sampled_from([record_of_story(story) for story in (SMALL, *STORIES[-3:])]),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 255),
)
def test_no_changed_byte_goes_unseen(record: bytes, place: float, change: int) -> None:
    at = int(place * len(record))
    changed = record[:at] + bytes([record[at] ^ change]) + record[at + 1 :]
    if plain(changed) != plain(record):
        assert codes(changed) != []


@settings(max_examples=examples(30, 60))
@given(st.integers(0, len(record_of_story(SMALL)) - 1), st.integers(1, 40))
def test_no_missing_or_doubled_bytes_go_unseen(at: int, count: int) -> None:
    record = record_of_story(SMALL)
    for changed in (record[:at] + record[at + count :], record[: at + count] + record[at:]):
        assert plain(changed) == plain(record) or codes(changed) != []


Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place in a document, those of whole maps and arrays included."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))


def places_of_each_kind(document: Any) -> list[Path]:
    """For every kind of place (`commits, any, blob`) the first, the middle and the last one."""
    kinds: dict[Path, list[Path]] = {}
    for path in leaves(document):
        kind = tuple("any" if isinstance(step, int) else step for step in path)
        kinds.setdefault((*kind, path[-1] if len(path) == 3 else ""), []).append(path)
    chosen = [(found[0], found[len(found) // 2], found[-1]) for found in kinds.values()]
    return sorted({path for three in chosen for path in three}, key=str)


def put(document: Any, path: Path, value: Any) -> bytes:
    """The document as a file, with something else at one place."""
    copy = json.loads(json.dumps(document))
    inside = copy
    for step in path[:-1]:
        inside = inside[step]
    if value is REMOVED:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return json.dumps(copy, separators=(",", ":")).encode()


REMOVED = object()
FREELY_SHAPED = ("frames", "draws")
"""Here nothing is refused for its type: each value costs a whole verification."""
DOCUMENT = json.loads(record_of_story(SMALL))
PLACES = places_of_each_kind(DOCUMENT)


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_no_altered_removed_or_mistyped_field_goes_unseen(path: Path) -> None:
    values = [REMOVED, flipped(value_at(DOCUMENT, path)), None]
    if path[0] not in FREELY_SHAPED:
        values += [-1, 1 << 60, 1.5, True, "", "\ud800", [], {}, [[[[]]]]]
    for value in values:
        changed = put(DOCUMENT, path, value)
        if plain(changed) != DOCUMENT:
            assert codes(changed) != [], value


@pytest.mark.parametrize("field", [1, 2, 3])
def test_another_spelling_of_the_same_bytes_is_seen(field: int) -> None:
    for row, commit in enumerate(DOCUMENT["commits"]):
        text = commit[field]
        for letter in "ABCDEFGHwxyz0189-_":
            changed = put(DOCUMENT, ("commits", row, field), text[:-1] + letter)
            if letter != text[-1] and unpadded(text) == unpadded(text[:-1] + letter):
                assert codes(changed) == ["unreadable"]
                return
    raise AssertionError("no text has another spelling")


def unpadded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_places_are_of_every_part() -> None:
    assert {path[0] for path in PLACES} == set(DOCUMENT)
    assert {path[2] for path in PLACES if path[0] == "commits" and len(path) == 3} == set(range(6))
