"""Whatever a verifier is given, it answers: no file crashes it or leads it astray."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.record.record_games import (
    GAMES,
    HOST,
    SMALL,
    commits_of,
    forged,
    record_of_story,
    relinked,
    told,
    written,
)
from towerhall_protocol.commands import base64url
from towerhall_server.record.findings import KINDS
from towerhall_server.record.verify import verify
from towerhall_server.room.commits import Cause, Commit
from towerhall_server.room.events import DealCancelled, PersonSat, RoomCreated, TimedOut

replace = msgspec.structs.replace


def codes(record: bytes) -> list[str]:
    found = [finding.code for finding in verify(record, GAMES)]
    assert set(found) <= set(KINDS)
    return found


def plain(record: bytes) -> Any:
    return msgspec.json.decode(record)


@settings(max_examples=examples(50, 100))
@given(st.binary() | st.text().map(str.encode))
@example(b"")
@example(b"[" * 100_000)
@example(b'{"format":' + b"[" * 100_000)
@example(b'{"format":2}')
@example(b'{"format":2,"format":2}')
@example(b'{"format":' + b"9" * 5000 + b"}")
@example(b"\xff\xfe{}")
def test_any_bytes_are_no_record(data: bytes) -> None:
    assert codes(data) == ["unreadable"]


def test_another_format_game_or_version_is_named() -> None:
    document = plain(record_of_story(SMALL))
    assert codes(json.dumps({**document, "format": 3}).encode()) == ["unknown_format"]
    assert [one.code for one in verify(record_of_story(SMALL), {})] == ["unknown_rules"]
    tape = told(SMALL)
    commit = commits_of(tape)[0]
    (created,) = commit.room
    changes: tuple[dict[str, Any], ...] = ({"game": "chess"}, {"version": 2})
    for change in changes:
        other = replace(commit, room=(replace(created, **change),))
        found = written(record_of_story(SMALL), forged(tape, {1: other}))
        assert codes(found) == ["unknown_rules"]


def test_without_the_rules_chain_and_secrets_are_still_checked() -> None:
    document = plain(record_of_story(SMALL))
    document["proof"]["secret"] = base64url(bytes(32))
    document["proof"]["deals"][0]["seats"][0]["nonce"] = base64url(bytes(32))
    document["commits"][5][4] += 1
    found = [one.code for one in verify(json.dumps(document).encode(), {})]
    assert set(found) == {"chain", "commitment", "nonce", "unknown_rules"}


def creations() -> Iterator[Commit]:
    """First commits that would lead a careless reader astray."""
    commit = commits_of(told(SMALL))[0]
    (created,) = commit.room
    assert isinstance(created, RoomCreated)
    slow = replace(created.settings, turn_seconds=(1 << 63) - 1)
    changes: tuple[dict[str, Any], ...] = (
        {"seats": 1 << 40},
        {"seats": -1},
        {"seats": 0},
        {"options": {"goal": "none"}},
        {"options": {"goal": [[[]]]}},
        {"options": {}},
        {"settings": slow},
        {"uid": b""},
        {"uid": b"\0" * 16},
        {"commitment": b""},
        {"code": "\x1b[2J"},
    )
    for change in changes:
        yield replace(commit, room=(replace(created, **change),))
    yield replace(commit, room=(created, created))
    yield replace(commit, room=())
    yield replace(commit, cause=Cause(1, "x", "y", 1))
    yield replace(commit, room=(PersonSat(-1, "x", "y"),))
    yield replace(commit, command={"command": "sit"})


@pytest.mark.parametrize("commit", list(creations()), ids=lambda commit: str(commit.room)[:60])
def test_no_creation_leads_astray(commit: Commit) -> None:
    assert codes(written(record_of_story(SMALL), forged(told(SMALL), {1: commit}))) != []


def sittings() -> Iterator[Commit]:
    """Second commits of the same kind."""
    cause = Cause(-1, HOST.id, "o-Ada", 1)
    for seat in (-1, 2, 1 << 40):
        sits = (PersonSat(seat, HOST.id, "Ada"),)
        yield Commit(cause, sits * 30, command={"command": "sit", "seat": seat})
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    commands: tuple[dict[str, Any], ...] = (
        {},
        {"command": []},
        {"command": "sit", "seat": deep},
        {"command": "x" * 5000},
    )
    for command in commands:
        yield Commit(cause, command=command)
    for other in (Cause(), Cause(-7), Cause(1), Cause(1 << 40), Cause(0, "", "", 1)):
        yield Commit(other, command={"command": "sit"})
    yield Commit(Cause(), (DealCancelled(0, ()),))
    yield Commit(Cause(0), (TimedOut(0),))
    yield Commit(cause, game=(), command={"command": "place"})


@pytest.mark.parametrize("commit", list(sittings()), ids=lambda commit: str(commit)[:60])
def test_no_commit_leads_astray(commit: Commit) -> None:
    found = written(record_of_story(SMALL), forged(told(SMALL), {2: commit}))
    assert {"undecided", "decision"} & set(codes(found))


@settings(max_examples=examples(50, 100))
@given(st.integers(0, len(told(SMALL).entries) - 1), st.data())
def test_a_changed_blob_is_read_judged_and_never_trusted(place: int, data: st.DataObject) -> None:
    tape = told(SMALL)
    entry = tape.entries[place]
    at = data.draw(st.integers(0, len(entry.blob) - 1))
    byte = bytes([entry.blob[at] ^ data.draw(st.integers(1, 255))])
    blob = data.draw(st.sampled_from((entry.blob[:at] + byte + entry.blob[at + 1 :], byte, b"")))
    changed = [*tape.entries[:place], replace(entry, blob=blob), *tape.entries[place + 1 :]]
    assert codes(written(record_of_story(SMALL), relinked(changed))) != []


def test_an_unreadable_commit_is_named() -> None:
    tape = told(SMALL)
    entries = list(tape.entries)
    entries[9] = replace(entries[9], blob=b"\xc1")
    found = written(record_of_story(SMALL), relinked(entries))
    findings = {finding.code: finding.where for finding in verify(found, GAMES)}
    assert findings["commit"] == "commit 10"


def test_what_a_finding_quotes_is_short() -> None:
    for finding in verify(b'{"format":1,"' + b"x" * 10_000 + b'":1}', GAMES):
        assert len(finding.detail) <= 300
