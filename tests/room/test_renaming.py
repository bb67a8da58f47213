"""Renaming: a seat takes the name of its person's token, and stays the same person's (P-51)."""

from typing import Any

import msgspec

from tests.room.pure_rooms import ADA, BEN, PureRoom
from towerhall_server.room.events import PersonRenamed
from towerhall_server.room.seats import Person
from towerhall_server.room.table import SeatHolder
from towerhall_server.room.view import SHARED, view


def held(pure: PureRoom, seat: int) -> SeatHolder:
    holder = pure.room.table.seats[seat]
    assert holder is not None
    return holder


def shown(pure: PureRoom) -> dict[str, Any]:
    document: Any = view(pure.room, SHARED)["room"]
    return dict(document)


def test_a_seat_takes_the_name_of_the_token_at_any_time() -> None:
    pure = PureRoom(aliased=True).seat_people(ADA, BEN)
    eve, before = Person(ADA.id, "Eve"), held(pure, 0)
    assert before.nonce_hash
    assert pure.say(eve, "rename").commit.room == (PersonRenamed(0, "Eve"),)
    assert shown(pure)["seats"]["0"]["name"] == "Eve"
    assert pure.refused(eve, "rename") == "same_name"
    assert pure.refused(eve, "rename", name="Mallory") == "bad_command"
    assert shown(pure)["seats"]["0"]["id"] == ADA.id
    assert held(pure, 0) == msgspec.structs.replace(before, name="Eve")
    assert held(pure, 1).name == "Ben"
    pure.say(ADA, "rename")
    assert held(pure, 0) == before
