"""P-157: bot accounts sit where the host wants them, and everybody sees what they are."""

from typing import Any

import msgspec
import pytest

from tests.room.pure_rooms import ADA, BEN, CYD, HOST, PureRoom, sealed_nonce
from towerhall_server.record.rederive import decide_again
from towerhall_server.room.commits import decode_commit
from towerhall_server.room.events import BotAccountMarked, PersonInvited, PersonSat
from towerhall_server.room.seats import Person
from towerhall_server.room.view import SHARED, describe, view

BOT = Person(CYD.id, "Deep", bot_account=True)


def room(**plan: Any) -> PureRoom:
    """Ada, the host, has the first of three seats."""
    pure = PureRoom(seats=3, aliased=True, **plan)
    pure.say(ADA, "sit", seat=0)
    return pure


def seats(pure: PureRoom) -> Any:
    document: Any = view(pure.room, SHARED)["room"]
    return document["seats"]


def test_a_bot_account_sits_only_if_the_host_allows_it() -> None:
    pure = room()
    assert pure.refused(BOT, "sit") == "no_bot_accounts"
    pure.say(HOST, "set_options", bot_accounts=True)
    assert pure.say(BOT, "sit").commit.room == (PersonSat(1, BOT.id, "Deep"), BotAccountMarked(1))
    assert [seat.get("bot_account") for seat in seats(pure).values()] == [None, True]
    assert describe(pure.room.table)["bot_accounts_at"] == [1]


def test_people_are_not_marked_and_need_no_leave() -> None:
    pure = room()
    assert pure.say(BEN, "sit").commit.room == (PersonSat(1, BEN.id, "Ben"),)
    assert "bot_accounts_at" not in describe(pure.room.table)
    assert "bot_account" not in seats(pure)["1"]


def test_the_mark_goes_with_the_seat() -> None:
    pure = room()
    pure.say(HOST, "set_options", bot_accounts=True)
    pure.say(BOT, "sit")
    pure.say(BOT, "stand")
    pure.say(BEN, "sit", seat=1)
    assert "bot_account" not in seats(pure)["1"]


def test_who_is_invited_may_sit_though_others_may_not() -> None:
    pure = room()
    assert pure.say(HOST, "invite", id=BOT.id).commit.room == (PersonInvited(BOT.id),)
    document: Any = view(pure.room, SHARED)["room"]
    assert document["invited"] == {BOT.id: True}
    pure.say(BOT, "sit")
    assert pure.refused(HOST, "invite", id=BOT.id) == "already_invited"
    assert pure.refused(Person(BEN.id, "Other", bot_account=True), "sit") == "no_bot_accounts"


def test_a_seat_that_is_kept_is_an_invitation() -> None:
    pure = PureRoom(seats=2, aliased=True, reserved=("", BOT.id))
    assert pure.say(BOT, "sit").commit.room[0] == PersonSat(1, BOT.id, "Deep")


def test_a_quick_room_has_none_whoever_wants_them() -> None:
    pure = PureRoom(seats=3, aliased=True, quick=True)
    pure.say(HOST, "invite", id=BOT.id)
    assert pure.refused(BOT, "sit") == "no_bot_accounts"
    assert pure.refused(HOST, "set_options", bot_accounts=True) == "bad_options"


@pytest.mark.parametrize("wrong", [1, "yes", []])
def test_the_setting_is_true_or_false(wrong: object) -> None:
    assert room().refused(HOST, "set_options", bot_accounts=wrong) == "bad_options"


def test_who_is_sent_away_is_no_longer_invited() -> None:
    pure = room()
    pure.say(HOST, "invite", id=BOT.id)
    pure.say(BOT, "sit")
    pure.say(HOST, "kick", seat=1)
    assert pure.refused(BOT, "sit") == "kicked"
    assert pure.refused(HOST, "invite", id=BOT.id) == "kicked"
    pure.say(HOST, "admit", id=BOT.id)
    assert pure.refused(BOT, "sit") == "no_bot_accounts"


def test_a_host_invites_others_and_not_too_many() -> None:
    pure = room()
    assert pure.refused(HOST, "invite", id=HOST.id) == "own_seat"
    pure.say(BEN, "sit")
    assert pure.refused(HOST, "invite", id=BEN.id) == "already_invited"
    full = msgspec.structs.replace(pure.room.table, invited=("A" * 11,) * 100)
    pure.rooms[-1] = msgspec.structs.replace(pure.room, table=full)
    assert pure.refused(HOST, "invite", id=BOT.id) == "list_full"


def test_rooms_of_old_logs_know_nobody_by_alias() -> None:
    assert PureRoom(seats=3).refused(HOST, "invite", id=BOT.id) == "unknown_command"


def test_a_nonce_of_a_bot_account_counts_like_that_of_a_person() -> None:
    pure = room()
    pure.say(HOST, "invite", id=BOT.id)
    pure.say(BOT, "sit", nonce=sealed_nonce(BOT))
    assert seats(pure)["1"]["nonce"] == "sealed"


def test_a_verifier_comes_to_the_same_seat_and_mark() -> None:
    pure = room()
    pure.say(HOST, "invite", id=BOT.id)
    before = pure.room
    pure.say(BOT, "sit")
    commit = decode_commit(pure.entries[-1].blob, pure.room.rules)
    assert decide_again(before, commit).step.commit == commit
    without = msgspec.structs.replace(commit, room=commit.room[:1])
    assert decide_again(before, without).step.commit == without
    marked = msgspec.structs.replace(commit, room=commit.room[1:])
    assert decide_again(before, marked).step.commit != marked
