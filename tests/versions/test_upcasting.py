"""What was once stored in another form is read as what it is today, and only that."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.games import tile_duel as duel
from tests.record.record_games import relinked
from tests.room.pure_rooms import GAMES, SECRET, PureRoom, frames_of, lived, whole_room
from towerhall_server.eventlog.entry import Entry
from towerhall_server.game import AnyGame, event_name
from towerhall_server.live.record_store import make_record
from towerhall_server.live.replica import Replica
from towerhall_server.record.verify import verify
from towerhall_server.room import commits
from towerhall_server.room.commits import decode_commit, encode_commit
from towerhall_server.room.events import PUBLIC_FIELDS
from towerhall_server.room.view import WATCHING
from towerhall_server.upcasting import upcast

OLD_SEATS = {
    "seat_taken": lambda fields: ["seat_taken_2", *fields, b""],
    "seat_taken_2": lambda fields: ["person_sat", fields[1], fields[0], *fields[2:]],
}
"""Who sat came before where, and once nobody had nonces."""
OLD_ROLLS = {"dice": lambda fields: ["rolled", *fields[0]]}
"""Seat and size of a roll were once a pair."""


def as_once(event: list[Any]) -> list[Any]:
    """An event in the form of long ago."""
    match event:
        case ["person_sat", seat, identity, name, b""]:
            return ["seat_taken", identity, seat, name]
        case ["person_sat", seat, identity, *rest]:
            return ["seat_taken_2", identity, seat, *rest]
        case ["rolled", seat, size]:
            return ["dice", [seat, size]]
    return event


def rewritten(entry: Entry, once: Callable[[list[Any]], list[Any]]) -> Entry:
    cause, room, game, end, command = msgspec.msgpack.decode(entry.blob)
    old = [cause, [*map(once, room)], [*map(once, game)], [*map(once, end)], command]
    return msgspec.structs.replace(entry, blob=msgspec.msgpack.encode(old))


@pytest.fixture
def old_forms(monkeypatch: pytest.MonkeyPatch) -> AnyGame:
    """The forms of long ago are known, of the room's events and of the game's."""
    monkeypatch.setattr(commits, "UPCASTERS", OLD_SEATS)
    return replace(duel.GAME, upcasters=OLD_ROLLS)


def old_log(pure: PureRoom) -> list[Entry]:
    old = [rewritten(entry, as_once) for entry in pure.entries]
    assert sum(one.blob != other.blob for one, other in zip(old, pure.entries, strict=True)) > 5
    return relinked(old)


def test_an_old_log_leads_to_the_same_room_by_the_same_commits(old_forms: AnyGame) -> None:
    pure = whole_room("tile_duel")
    entries = old_log(pure)
    replica = Replica.load({old_forms.name: old_forms}, SECRET, entries)
    assert replica.room.table == pure.room.table
    assert replica.room.game == pure.room.game
    for entry, original in zip(entries, pure.entries, strict=True):
        rules = None if entry.seq == 1 else old_forms
        assert decode_commit(entry.blob, rules) == decode_commit(original.blob, rules)


def test_the_record_of_an_old_log_verifies(old_forms: AnyGame) -> None:
    games = {old_forms.name: old_forms}
    record = make_record(games, SECRET, old_log(whole_room("tile_duel")))
    assert verify(record, games) == ()


def test_another_spelling_of_an_old_log_is_refused(old_forms: AnyGame) -> None:
    """An old event keeps its form, but all bytes of its commit are still those of one spelling."""
    games, pure = {old_forms.name: old_forms}, whole_room("tile_duel")
    for entry, original in zip(old_log(pure), pure.entries, strict=True):
        if entry.blob == original.blob or entry.seq % 3:
            continue
        long_head = msgspec.structs.replace(entry, blob=b"\xdc\0\x05" + entry.blob[1:])
        log = [long_head if one.seq == entry.seq else one for one in old_log(pure)]
        findings = verify(make_record(games, SECRET, relinked(log)), games)
        assert [finding.code for finding in findings] == ["form"]


def test_who_does_not_know_the_old_forms_refuses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = old_log(whole_room("tile_duel"))
    with pytest.raises(msgspec.ValidationError, match="seat_taken"):
        Replica.load(GAMES, SECRET, entries)
    monkeypatch.setattr(commits, "UPCASTERS", OLD_SEATS)
    with pytest.raises(msgspec.ValidationError, match="dice"):
        Replica.load(GAMES, SECRET, entries)


def test_what_is_in_the_form_of_today_is_never_looked_through(
    old_forms: AnyGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(*_: object) -> Any:
        raise AssertionError("there was nothing to look for")

    monkeypatch.setattr("towerhall_server.room.commits.upcast", looked)
    monkeypatch.setattr("towerhall_server.game.upcast", looked)
    pure = whole_room("tile_duel")
    Replica.load({old_forms.name: old_forms}, SECRET, pure.entries)
    assert frames_of(pure, WATCHING)


def test_an_old_event_becomes_bytes_that_would_be_written_today(old_forms: AnyGame) -> None:
    pure = whole_room("tile_duel")
    for entry, original in zip(old_log(pure), pure.entries, strict=True):
        rules = None if entry.seq == 1 else old_forms
        assert encode_commit(decode_commit(entry.blob, rules)) == original.blob


@pytest.mark.parametrize(
    "event", [["dice"], ["dice", 7], ["dice", []], ["dice", [1, 2, 3]], [["dice"]], [], 7, {}]
)
def test_nonsense_under_an_old_name_is_refused_like_any_other(event: object) -> None:
    rules = replace(duel.GAME, upcasters=OLD_ROLLS)
    with pytest.raises(msgspec.ValidationError):
        rules.read_events(msgspec.msgpack.encode([event]))


def test_forms_that_lead_to_each_other_come_to_an_end() -> None:
    circle = {"a": lambda fields: ["b", *fields], "b": lambda fields: ["a", *fields]}
    assert msgspec.msgpack.decode(upcast(msgspec.msgpack.encode([["a", 1]]), circle)) == [["a", 1]]


def test_events_of_a_newer_server_are_refused_and_not_read_in_part() -> None:
    rooms = [lived(duel.GAME, seed, 80) for seed in range(120)]
    tried = set()
    for entry in (entry for pure in rooms for entry in pure.entries):
        whole = msgspec.msgpack.decode(entry.blob)
        cause, room, game, end, command = whole
        newer = [[*whole, 0], [[-1, "", "", 0, 0], room, game, end, command]]
        for event in room:
            tried.add(event[0])
            newer.append([cause, [[*event, 0]], game, end, command])
        for event in end:
            tried.add(event[0])
            newer.append([cause, room, game, [[*event, 0]], command])
        for commit in newer:
            with pytest.raises(msgspec.ValidationError):
                decode_commit(msgspec.msgpack.encode(commit), duel.GAME)
    assert tried == {event_name(kind.__name__) for kind in PUBLIC_FIELDS}


def test_settings_that_a_newer_server_knows_are_refused() -> None:
    blob = whole_room("tile_duel").entries[0].blob
    cause, [created], *rest = msgspec.msgpack.decode(blob)
    at = next(place for place, field in enumerate(created) if isinstance(field, dict) and place > 5)
    created[at]["newer"] = 1
    with pytest.raises(msgspec.ValidationError, match="newer"):
        decode_commit(msgspec.msgpack.encode([cause, [created], *rest]), None)
