"""Aliases: one name for one person in one room, and the way back for those who have the salt."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.room.pure_rooms import CODE, SECRET, UID
from towerhall_protocol.commands import base64url
from towerhall_protocol.fairness import SECRET_BYTES
from towerhall_server.game import discover
from towerhall_server.room import steps
from towerhall_server.room.aliases import SALT_BYTES, alias_of, identity_of, secret_and_salt
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.commits import Cause
from towerhall_server.room.decision import manage
from towerhall_server.room.events import RoomCreated, Settings
from towerhall_server.room.rematch import rematch_plan
from towerhall_server.room.seats import Person, guest_of
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Plan, with_aliases

SALT, OTHER = b"first salt......", b"second salt....."
ids = st.binary(min_size=8, max_size=8).map(base64url)
salts = st.binary(min_size=SALT_BYTES, max_size=SALT_BYTES)
ANN, BEN = base64url(b"ann ann "), base64url(b"ben ben ")


@given(ids, salts)
def test_an_alias_has_the_form_of_an_id_and_leads_back(identity: str, salt: bytes) -> None:
    alias = alias_of(salt, identity)
    assert re.fullmatch("[A-Za-z0-9_-]{11}", alias)
    assert alias != identity
    assert identity_of(salt, alias) == identity


@given(st.sets(ids, min_size=2, max_size=20), salts, salts)
def test_no_two_people_share_an_alias_and_no_two_rooms_an_alias_of_one(
    people: set[str], here: bytes, there: bytes
) -> None:
    first = {alias_of(here, identity) for identity in people}
    assert len(first) == len(people)
    if here != there:
        assert first.isdisjoint(alias_of(there, identity) for identity in people)


def test_aliases_stay_what_they_are() -> None:
    """Rooms outlive servers: a change of the recipe would turn their people into strangers."""
    assert alias_of(SALT, ANN) == "YPWmencoIEg"


@pytest.mark.parametrize("where", range(8))
def test_every_byte_of_an_id_and_of_the_salt_matters(where: int) -> None:
    changed = bytearray(b"ann ann ")
    changed[where] ^= 1
    assert alias_of(SALT, base64url(bytes(changed)))[:6] != alias_of(SALT, ANN)[:6]
    salt = bytearray(SALT)
    salt[2 * where] ^= 1
    assert alias_of(bytes(salt), ANN)[:6] != alias_of(SALT, ANN)[:6]


def test_nobody_stays_nobody_and_a_room_without_salt_has_no_aliases() -> None:
    assert (alias_of(SALT, ""), identity_of(SALT, "")) == ("", "")
    assert (alias_of(b"", ANN), identity_of(b"", ANN)) == (ANN, ANN)
    assert secret_and_salt(SECRET) == (SECRET, b"")


@pytest.mark.parametrize("wrong", ["short", "x" * 11, "identity of somebody", "AAAAAAAAAA+"])
def test_what_is_no_id_has_no_alias(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"id is 8 bytes|not base64url|Invalid|padding"):
        alias_of(SALT, wrong)


# In a room


def founded(salt: bytes) -> Room:
    rules = discover()["five_towers"]
    plan = Plan(rules, rules.presets["standard"], 2, Settings(), ANN, reserved=(BEN, ""))
    return steps.found(with_aliases(plan, salt), CODE, UID, SECRET + salt).after


def test_a_room_holds_aliases_alone_and_its_secret_is_still_the_secret() -> None:
    room = founded(SALT)
    assert (room.secret, room.salt, room.table.aliased) == (SECRET, SALT, True)
    assert (room.table.host, room.table.reserved) == (
        room.alias_of(ANN),
        (room.alias_of(BEN), ""),
    )
    assert guest_of(room, Person(ANN, "Ann")) == Person(room.alias_of(ANN), "Ann")
    assert not any(ANN in repr(part) or BEN in repr(part) for part in (room.table,))
    end = abandon_step(room).commit.room[-1]
    assert end.secret == SECRET  # type: ignore[union-attr]
    assert len(SECRET) == SECRET_BYTES


def test_a_rematch_is_planned_for_the_people_and_not_for_their_aliases() -> None:
    room = founded(SALT)
    sat = manage(
        room,
        guest_of(room, Person(BEN, "Ben")),
        Cause(-1, room.alias_of(BEN), "origin", 1),
        {"command": "sit"},
    )
    assert isinstance(sat, steps.Step)
    plan = rematch_plan(sat.after, room.alias_of(ANN), {})
    assert (plan.host, plan.reserved) == (ANN, ("", BEN))
    created = steps.found(with_aliases(plan, OTHER), CODE, UID, SECRET + OTHER).commit.room[0]
    assert isinstance(created, RoomCreated)
    assert {created.host, *created.reserved}.isdisjoint({room.alias_of(ANN), room.alias_of(BEN)})
