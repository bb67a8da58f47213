"""What viewers see: a plain document that every frame leads to, with nothing in it to hide."""

import re
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games.lawbook import copied
from tests.room.pure_rooms import (
    ADA,
    BEN,
    CODE,
    GAMES,
    HOST,
    KEY_HASH,
    PEOPLE,
    SECRET,
    SECRET_DUEL,
    SHARED_DUEL,
    UID,
    PureRoom,
    classes,
    histories,
    open_nonce,
    sealed_nonce,
    whole_room,
)
from towerhall_protocol.codec import canonical
from towerhall_protocol.commands import base64url
from towerhall_protocol.fairness import commitment
from towerhall_protocol.merge_patch import apply
from towerhall_server.game import AnyGame, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.fan_out import Change
from towerhall_server.live.replica import follow
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.commits import Cause, decode_commit
from towerhall_server.room.events import (
    PUBLIC_FIELDS,
    PersonSat,
    RoomCreated,
    RoomEvent,
    Sealed,
    facts,
)
from towerhall_server.room.seats import Person
from towerhall_server.room.state import Room
from towerhall_server.room.view import (
    VIEW_VERSION,
    base_of,
    describe,
    frame,
    shown_cause,
    summary,
    view,
    view_class,
    viewer_of,
)

KEY = re.compile(r"[A-Za-z0-9:+_-]{1,40}")
every_game = pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
any_history = settings(max_examples=examples(20, 40), suppress_health_check=[HealthCheck.too_slow])
NOT_FOR_EYES = tuple(person.id for person in PEOPLE) + tuple(
    form for data in (KEY_HASH,) for form in (data.hex(), base64url(data))
)


def changes(pure: PureRoom) -> Iterator[Change]:
    """The room once more, from the bytes of its log alone."""
    room: Room | None = None
    for entry in pure.entries:
        change = follow(GAMES, SECRET, room, entry)
        yield change
        room = change.after


def frames_lead_to_views(pure: PureRoom) -> None:
    for name in classes(pure.room):
        shown: dict[str, object] = {}
        old: dict[str, object] = {}
        for change in changes(pure):
            new = view(change.after, name)
            made = frame(change.after.rules, change.commit, change.seq, change.mark, old, new)
            shown = apply(shown, copied(made.patch))
            fresh = view(pure.rooms[change.seq - 1], name)
            assert canonical(shown) == canonical(fresh), f"{name} at {change.seq}"
            old = new


@every_game
def test_frames_from_the_very_first_lead_every_class_to_the_fresh_view(rules: AnyGame) -> None:
    frames_lead_to_views(whole_room(rules.name))


@every_game
@any_history
@given(st.data())
def test_so_they_do_whatever_is_said(rules: AnyGame, data: st.DataObject) -> None:
    frames_lead_to_views(data.draw(histories(rules)))


@every_game
@any_history
@given(st.data())
def test_views_and_facts_are_plain(rules: AnyGame, data: st.DataObject) -> None:
    """Server-made keys; no nulls, no floats, no bytes."""
    pure = data.draw(histories(rules))
    for change in changes(pure):
        for name in classes(pure.room):
            check_plain(view(change.after, name))
        check_plain(list(map(facts, (*change.commit.room, *change.commit.end))))
        check_plain(shown_cause(change.commit.cause))


def check_plain(value: object) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            assert isinstance(key, str)
            assert KEY.fullmatch(key), f"{key!r} is a key"
            check_plain(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            check_plain(inner)
    else:
        assert type(value) in (int, str, bool), f"{value!r} is in a document"


def test_what_is_not_plain_is_seen() -> None:
    for bad in (None, 0.5, b"", {"a key": 1}, {"": 1}, {"x" * 41: 1}, {1: 1}, [{"a": [None]}]):
        with pytest.raises(AssertionError):
            check_plain(bad)


def test_names_are_values_and_never_keys() -> None:
    pure = PureRoom()
    nasty = Person("identity-of-nobody", "game")
    pure.say(nasty, "sit")
    room = shown(pure)
    assert room["seats"] == {"0": {"name": "game"}}
    assert describe(pure.room.table)["names"] == ["game"]


@every_game
def test_identities_host_and_key_reach_nobody(rules: AnyGame) -> None:
    pure = whole_room(rules.name)
    for change in changes(pure):
        told: list[object] = [list(map(facts, (*change.commit.room, *change.commit.end)))]
        told += [view(change.after, name) for name in classes(pure.room)]
        told += [describe(change.after.table), shown_cause(change.commit.cause)]
        told += [base_of(change.after, name) for name in classes(pure.room)]
        text = msgspec.json.encode(told).decode()
        assert [secret for secret in NOT_FOR_EYES if secret in text] == []


# facts


def test_every_event_has_its_allow_list_and_only_fields_that_there_are() -> None:
    assert PUBLIC_FIELDS.keys() == set(get_args(RoomEvent))
    for kind, fields in PUBLIC_FIELDS.items():
        assert set(fields) <= set(kind.__struct_fields__)
        assert not {"identity", "host", "key_hash", "reserved"} & set(fields)


def test_facts_are_the_name_of_the_event_and_its_public_fields_in_order() -> None:
    assert facts(PersonSat(1, ADA.id, ADA.name, bytes(32))) == ("person_sat", 1, "Ada", "A" * 43)
    assert facts(PersonSat(1, ADA.id, ADA.name)) == ("person_sat", 1, "Ada", "")
    assert facts(Sealed(2, (b"", bytes(32)))) == ("sealed", 2, ("", "A" * 43))
    created = decode_commit(PureRoom().entries[0].blob, None).room[0]
    assert isinstance(created, RoomCreated)
    told = ("room_created", "five_towers", FIVE_TOWERS.version, 2, base64url(UID))
    assert facts(created) == (*told, base64url(created.commitment))


def test_facts_of_the_room_come_before_those_of_the_game_and_of_its_end() -> None:
    pure = whole_room("five_towers")
    names: dict[str, int] = {}
    for change in changes(pure):
        made = frame(change.after.rules, change.commit, change.seq, change.mark, {}, {})
        told = [fact[0] for fact in made.facts]
        commit = change.commit
        assert len(told) == len(commit.room) + len(commit.game) + len(commit.end)
        names |= {name: place for place, name in enumerate(told)}
        if "dealt" in told:
            assert told[:2] == ["nonce_opened", "dealt"]
            assert told[2:] == [FIVE_TOWERS.facts(event)[0] for event in commit.game]
        if "game_over" in told:
            assert told[-2:] == ["game_over", "secret_revealed"]
            assert len(told) > 2
    assert names.keys() > {"room_created", "sealed", "dealt", "timed_out", "game_over"}


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (Cause(), ()),
        (Cause(2), (2,)),
        (Cause(2, ADA.id, "origin", 7), (2, "origin", 7)),
        (Cause(-1, ADA.id, "origin", 7), (-1, "origin", 7)),
    ],
)
def test_a_cause_tells_seat_origin_and_number_but_not_who(cause: Cause, told: object) -> None:
    assert shown_cause(cause) == told


# the room part


def shown(pure: PureRoom) -> dict[str, Any]:
    document: dict[str, Any] = copied(view(pure.room, classes(pure.room)[0]))
    room: dict[str, Any] = document["room"]
    return room


def test_a_new_room_shows_what_can_be_known_of_it() -> None:
    assert shown(PureRoom(seats=3, turn_seconds=30, bot_delay_ms=100)) == {
        "code": CODE,
        "game": "five_towers",
        "version": FIVE_TOWERS.version,
        "uid": base64url(UID),
        "commitment": base64url(commitment(UID, SECRET)),
        "status": "waiting",
        "size": 3,
        "seats": {},
        "turn_seconds": 30,
        "bot_delay_ms": 100,
        "options": msgspec.to_builtins(FIVE_TOWERS.presets["standard"]),
    }


def test_seats_show_names_bots_readiness_and_nonces() -> None:
    pure = PureRoom(seats=3)
    pure.say(BEN, "sit", seat=1, nonce=sealed_nonce(BEN))
    pure.say(HOST, "add_bot", level="hard")
    assert shown(pure)["seats"] == {
        "0": {"name": "bot hard", "bot": "hard", "ready": True},
        "1": {"name": "Ben", "nonce": "sealed"},
    }
    pure.say(ADA, "sit", nonce=sealed_nonce(ADA))
    pure.say(BEN, "ready")
    assert shown(pure)["seats"]["1"] == {"name": "Ben", "nonce": "sealed", "ready": True}
    pure.say(HOST, "start")
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    assert shown(pure)["seats"] == {
        "0": {"name": "bot hard", "bot": "hard"},
        "1": {"name": "Ben", "nonce": "open"},
        "2": {"name": "Ada", "nonce": "sealed"},
    }
    pure.say(ADA, "open", nonce=open_nonce(ADA))
    assert shown(pure)["seats"]["2"] == {"name": "Ada"}


def test_the_host_is_shown_by_seat_and_not_without_one() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    assert "host" not in shown(pure)
    pure.say(HOST, "sit")
    assert shown(pure)["host"] == 1
    pure.say(BEN, "stand")
    pure.say(HOST, "stand")
    assert "host" not in shown(pure)


def test_options_are_shown_before_the_game_and_vanish_with_it() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    assert "options" in shown(pure)
    pure.say(HOST, "start")
    assert "options" in shown(pure)
    pure.say(ADA, "open", nonce=open_nonce(ADA))
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    assert "options" not in shown(pure)
    pure.append(abandon_step(pure.room))
    assert "options" not in shown(pure)


def test_the_deal_is_shown_from_the_first_sealing_on() -> None:
    pure = whole_room("five_towers")
    deals = [room.table.deal for room in pure.rooms]
    assert sorted(set(deals)) == [0, 1, 2]
    for room in pure.rooms:
        document: Any = view(room, "all")
        assert document["room"].get("deal", 0) == room.table.deal


def test_the_game_is_shown_from_the_deal_on_and_stays() -> None:
    for room in whole_room("five_towers").rooms:
        dealt = room.table.status in ("playing", "over")
        assert ("game" in view(room, "all")) == dealt


def test_a_clock_is_shown_while_a_game_with_a_clock_runs() -> None:
    for room in whole_room("five_towers").rooms:
        clock = view(room, "all").get("clock")
        assert clock == ({"due": room.began_ms + 20_000} if room.playing else None)
    for room in PureRoom().seat_people(ADA, BEN).deal().rooms:
        assert "clock" not in view(room, "all")


def test_a_clock_does_not_move_while_the_decision_is_the_same() -> None:
    pure = PureRoom(turn_seconds=30).seat_people(ADA, BEN, sealed=False).deal()
    before = view(pure.room, "all")["clock"]
    pure.mutter(after_ms=5_000)
    assert view(pure.room, "all")["clock"] == before
    pure.play_on(1)
    assert view(pure.room, "all")["clock"] == {"due": pure.now_ms + 30_000}


def test_the_end_shows_result_and_secret() -> None:
    won = shown(whole_room("five_towers"))
    result = whole_room("five_towers").room.table.result
    assert result is not None
    assert won["result"] == {"scores": [*result.scores], "places": [*result.places]}
    assert won["secret"] == base64url(SECRET)
    assert "closed" not in won


def test_a_room_that_was_closed_shows_why_and_the_secret() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    pure.append(abandon_step(pure.room))
    room = shown(pure)
    assert (room["status"], room["closed"]) == ("over", "abandoned")
    assert room["secret"] == base64url(SECRET)
    assert "result" not in room


def test_parts_that_did_not_change_are_the_same_object() -> None:
    """So that a diff does not look into them."""
    pure = PureRoom().seat_people(ADA, BEN).deal().play_on(1)
    before, after = (view(room, "all") for room in pure.rooms[-2:])
    assert before["room"] is after["room"]


# classes and lists


def test_all_viewers_of_a_shared_game_are_of_one_class() -> None:
    for viewer in (None, Seat(0), Seat(11)):
        assert view_class(SHARED_DUEL, viewer) == "all"


def test_each_seat_of_another_game_is_a_class_of_its_own() -> None:
    for viewer in (None, Seat(0), Seat(11)):
        assert viewer_of(view_class(SECRET_DUEL, viewer)) == viewer
    assert viewer_of("all") is None


def test_seats_of_another_game_see_with_their_own_eyes() -> None:
    room: Any = whole_room("secret_duel").room
    seen = {name: view(room, name)["game"] for name in classes(room)}
    columns = {name: game["columns"] for name, game in seen.items()}  # type: ignore[index]
    assert columns == {"watch": {}} | {
        str(seat): {str(seat): own} for seat, own in enumerate(room.game.columns)
    }


def test_a_base_names_room_class_and_versions() -> None:
    room = PureRoom(SECRET_DUEL).room
    assert base_of(room, "1") == f"{base64url(UID)}.1.{SECRET_DUEL.version}.{VIEW_VERSION}"
    assert len({base_of(room, name) for name in classes(room)}) == 3


def test_a_private_room_and_one_that_is_over_are_in_no_list() -> None:
    pure = whole_room("five_towers")
    assert {summary(room.table) for room in pure.rooms} == {b""}
    public = [msgspec.structs.replace(room.table, key_hash=b"") for room in pure.rooms]
    assert [bool(summary(table)) for table in public] == [
        table.status != "over" for table in public
    ]


def test_a_public_room_is_listed_with_seats_names_and_settings() -> None:
    pure = PureRoom(seats=3, turn_seconds=30)
    pure.say(BEN, "sit")
    table = msgspec.structs.replace(pure.room.table, key_hash=b"")
    assert msgspec.json.decode(summary(table)) == {
        "code": CODE,
        "game": "five_towers",
        "status": "waiting",
        "seats": 3,
        "taken": 1,
        "names": ["Ben"],
        "turn_seconds": 30,
    }
