"""The host sends people away and lets them in again, silences them and lets them be heard."""

from typing import Any

import pytest

from tests.room.pure_rooms import ADA, BEN, CYD, HOST, ZOE, PureRoom
from towerhall_server.game import Rejected
from towerhall_server.room import moderation
from towerhall_server.room.events import PersonAdmitted, PersonMuted, SeatKicked, facts
from towerhall_server.room.gate import silence
from towerhall_server.room.seats import Person
from towerhall_server.room.view import SHARED, view

EVE = Person("eveEVEeve-_", "Eve")


def room(**plan: Any) -> PureRoom:
    """Ada, the host, beside Ben; a seat is free."""
    pure = PureRoom(seats=3, aliased=True, **plan)
    pure.say(ADA, "sit", seat=0)
    pure.say(BEN, "sit", seat=1)
    return pure


def shown(pure: PureRoom) -> dict[str, Any]:
    document: Any = view(pure.room, SHARED)["room"]
    return dict(document)


# Sent away


def test_whoever_is_sent_away_is_listed_until_the_host_lets_them_in_again() -> None:
    pure = room()
    pure.say(EVE, "sit")
    assert pure.say(HOST, "kick", seat=2).commit.room == (SeatKicked(2),)
    assert shown(pure)["kicked"] == {EVE.id: "Eve"}
    assert silence(pure.room.table, EVE.id) == "kicked"
    assert pure.refused(EVE, "sit") == "kicked"
    assert pure.say(HOST, "admit", id=EVE.id).commit.room == (PersonAdmitted(EVE.id),)
    assert "kicked" not in shown(pure)
    assert silence(pure.room.table, EVE.id) == ""
    pure.say(EVE, "sit", seat=2)


def test_a_seat_that_is_kept_for_somebody_is_theirs_again_once_they_are_let_in() -> None:
    pure = PureRoom(seats=2, aliased=True, reserved=(EVE.id, ""))
    pure.say(EVE, "sit")
    pure.say(HOST, "kick", seat=0)
    assert "reserved" not in shown(pure) or shown(pure)["reserved"] == []
    pure.say(HOST, "admit", id=EVE.id)
    assert shown(pure)["reserved"] == [0]
    assert pure.refused(CYD, "sit", seat=0) == "seat_reserved"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"id": EVE.id}, "not_kicked"),
        ({"id": "short"}, "bad_command"),
        ({"id": 7}, "bad_command"),
        ({"id": None}, "bad_command"),
        ({}, "bad_command"),
        ({"seat": 1}, "bad_command"),
        ({"id": EVE.id, "seat": 1}, "bad_command"),
    ],
)
def test_only_whoever_was_sent_away_can_be_let_in(fields: dict[str, Any], code: str) -> None:
    assert room().refused(HOST, "admit", **fields) == code


# Silenced


@pytest.mark.parametrize("name", [{"id": EVE.id}, {"seat": 2}])
def test_whoever_is_silenced_stays_so_wherever_they_sit_and_whatever_their_name(
    name: dict[str, Any],
) -> None:
    pure = room()
    pure.say(EVE, "sit", seat=2)
    assert pure.say(HOST, "mute", **name).commit.room == (PersonMuted(EVE.id, True),)
    assert shown(pure)["muted"] == {EVE.id: True}
    pure.say(EVE, "stand")
    assert silence(pure.room.table, EVE.id) == "muted"
    pure.say(Person(EVE.id, "Evelyn"), "sit")
    assert silence(pure.room.table, EVE.id) == "muted"
    assert silence(pure.room.table, BEN.id) == ""
    assert pure.refused(HOST, "mute", **name) == "already_muted"
    assert pure.say(HOST, "unmute", **name).commit.room == (PersonMuted(EVE.id, False),)
    assert silence(pure.room.table, EVE.id) == ""
    assert pure.refused(HOST, "unmute", **name) == "not_muted"
    assert "muted" not in shown(pure)


@pytest.mark.parametrize("command", ["mute", "unmute"])
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "bad_command"),
        ({"id": EVE.id, "seat": 1}, "bad_command"),
        ({"id": "Ben"}, "bad_command"),
        ({"id": ["x"]}, "bad_command"),
        ({"seat": "1"}, "bad_command"),
        ({"seat": 3}, "no_such_seat"),
        ({"seat": 2}, "seat_empty"),
        ({"seat": 0}, "own_seat"),
    ],
)
def test_one_other_person_has_to_be_named(command: str, fields: dict[str, Any], code: str) -> None:
    assert room().refused(HOST, command, **fields) == code


def test_a_bot_cannot_be_silenced_nor_the_host_by_id() -> None:
    pure = PureRoom(seats=2, aliased=True, host=EVE.id)
    pure.say(EVE, "add_bot", seat=1)
    assert pure.refused(EVE, "mute", seat=1) == "seat_empty"
    assert pure.refused(EVE, "mute", id=EVE.id) == "own_seat"


def test_both_lists_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moderation, "MOST_NAMED", 2)
    pure = room()
    people = [Person(f"person---{number:02}", "One of many") for number in range(3)]
    for person in people[:2]:
        pure.say(HOST, "mute", id=person.id)
        pure.say(person, "sit", seat=2)
        pure.say(HOST, "kick", seat=2)
    pure.say(people[2], "sit", seat=2)
    for command, fields in (("mute", {"id": people[2].id}), ("kick", {"seat": 2})):
        answer = pure.ask(HOST, {"command": command, **fields})
        assert answer == Rejected("list_full", "P-57", {"most": 2})
    pure.say(HOST, "admit", id=people[0].id)
    pure.say(HOST, "kick", seat=2)


# What others see


def test_seats_show_ids_where_these_are_aliases_and_nowhere_else() -> None:
    pure = room()
    pure.say(HOST, "add_bot", seat=2)
    assert [holder.get("id") for holder in shown(pure)["seats"].values()] == [ADA.id, BEN.id, None]
    assert facts(PersonMuted(EVE.id, True)) == ("person_muted", EVE.id, True)
    assert facts(PersonAdmitted(EVE.id)) == ("person_admitted", EVE.id)


def test_a_room_that_is_older_than_aliases_tells_nobodys_id() -> None:
    pure = PureRoom(seats=3).seat_people(ADA, BEN, sealed=False)
    by_seat, by_id = {"seat": 1}, {"id": "A" * 11}
    for command, fields in (("mute", by_seat), ("unmute", by_seat), ("admit", by_id)):
        assert pure.refused(HOST, command, **fields) == "unknown_command"
    pure.say(HOST, "kick", seat=1)
    assert pure.refused(BEN, "sit") == "kicked"
    told = repr(shown(pure))
    assert not any(person.id in told for person in (ADA, BEN, ZOE))
