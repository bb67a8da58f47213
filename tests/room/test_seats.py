"""Sitting down, getting ready, starting, opening nonces, bots (P-51 to P-55)."""

from typing import Any

import pytest

from tests.room.pure_rooms import (
    ADA,
    BEN,
    CYD,
    HOST,
    UID,
    ZOE,
    PureRoom,
    nonce_of,
    open_nonce,
    sealed_nonce,
)
from towerhall_protocol.commands import base64url
from towerhall_protocol.fairness import nonce_hash
from towerhall_server.game import LEVELS, Rejected
from towerhall_server.room.events import (
    BotSat,
    DealCancelled,
    Dealt,
    HostPassed,
    NonceOpened,
    PersonSat,
    Sealed,
    SeatLeft,
    SeatReady,
)
from towerhall_server.room.table import SeatHolder

HASH = nonce_hash(UID, nonce_of(BEN))
BAD_NONCES: list[Any] = [
    sealed_nonce(BEN)[:-1],
    sealed_nonce(BEN) + "A",
    base64url(bytes(31)),
    base64url(bytes(33)),
    "A",
    "+" + sealed_nonce(BEN)[1:],
    "/" * 43,
    "!" * 43,
    "é" * 43,
    "\ud800" * 43,
    " " + sealed_nonce(BEN)[1:],
    sealed_nonce(BEN) + "\n",
    sealed_nonce(BEN) + "=",
    "A" * 42 + "B",
    HASH,
    7,
    True,
    [sealed_nonce(BEN)],
    {"nonce": sealed_nonce(BEN)},
]
"""Too short, too long, of another alphabet, padded, with bits to spare, or not text at all."""


def held(pure: PureRoom, seat: int) -> SeatHolder:
    holder = pure.room.table.seats[seat]
    assert holder is not None
    return holder


def sealed_room() -> PureRoom:
    """Ada and Ben owe nonces; Cyd gave none."""
    pure = PureRoom(seats=3)
    pure.say(ADA, "sit", nonce=sealed_nonce(ADA))
    pure.say(BEN, "sit", nonce=sealed_nonce(BEN))
    pure.say(CYD, "sit")
    pure.say(BEN, "ready")
    pure.say(CYD, "ready")
    pure.say(HOST, "start")
    return pure


# sit and stand


def test_whoever_names_no_seat_gets_the_lowest_free_one() -> None:
    pure = PureRoom(seats=3)
    pure.say(BEN, "sit", seat=1)
    assert pure.say(CYD, "sit").commit.room == (PersonSat(0, CYD.id, CYD.name),)
    assert pure.say(ZOE, "sit").commit.room == (PersonSat(2, ZOE.id, ZOE.name),)


def test_whoever_names_a_free_seat_gets_it() -> None:
    pure = PureRoom(seats=3)
    step = pure.say(BEN, "sit", seat=2, nonce=sealed_nonce(BEN))
    assert step.commit.room == (PersonSat(2, BEN.id, BEN.name, HASH),)
    assert held(pure, 2) == SeatHolder("Ben", BEN.id, nonce_hash=HASH)


def test_a_seat_that_is_held_is_taken() -> None:
    pure = PureRoom(seats=3)
    pure.say(BEN, "sit", seat=1)
    pure.say(HOST, "add_bot", seat=2)
    for seat in (1, 2):
        answer = pure.ask(ZOE, {"command": "sit", "seat": seat})
        assert answer == Rejected("seat_taken", "P-51", {"seat": seat})


def test_without_a_free_seat_the_room_is_full() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    assert pure.refused(ZOE, "sit") == "room_full"
    assert pure.refused(HOST, "add_bot") == "room_full"
    assert pure.refused(ZOE, "sit", seat=1) == "seat_taken"
    assert pure.refused(HOST, "add_bot", seat=0) == "seat_taken"


@pytest.mark.parametrize("seat", [True, False, 0.0, "0", [], {"seat": 0}])
@pytest.mark.parametrize("command", ["sit", "add_bot", "remove_bot"])
def test_a_seat_that_is_no_number_is_refused(command: str, seat: object) -> None:
    pure = PureRoom()
    pure.say(HOST, "add_bot", seat=1)
    answer = pure.ask(HOST, {"command": command, "seat": seat})
    assert isinstance(answer, Rejected)
    assert answer.code == "bad_command"


@pytest.mark.parametrize("seat", [-1, 2, 1 << 40])
@pytest.mark.parametrize("command", ["sit", "add_bot", "remove_bot"])
def test_a_seat_that_does_not_exist_is_refused(command: str, seat: object) -> None:
    pure = PureRoom()
    pure.say(HOST, "add_bot", seat=1)
    answer = pure.ask(HOST, {"command": command, "seat": seat})
    rule = "P-51" if command == "sit" else "P-55"
    assert answer == Rejected("no_such_seat", rule, {"last": 1})


@pytest.mark.parametrize("nonce", BAD_NONCES, ids=ascii)
def test_a_hash_that_is_none_is_refused(nonce: object) -> None:
    pure = PureRoom()
    assert pure.refused(BEN, "sit", nonce=nonce) == "bad_command"
    pure.say(BEN, "sit")
    assert pure.refused(BEN, "ready", nonce=nonce) == "bad_command"
    assert held(pure, 0) == SeatHolder("Ben", BEN.id)


def test_nobody_needs_a_nonce() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    pure.say(CYD, "sit")
    assert [held(pure, seat).nonce_hash for seat in (0, 1)] == [b"", b""]


def test_leaving_drops_the_nonce() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit", nonce=sealed_nonce(BEN))
    pure.say(BEN, "ready")
    assert pure.say(BEN, "stand").commit.room == (SeatLeft(0),)
    pure.say(BEN, "sit")
    assert held(pure, 0) == SeatHolder("Ben", BEN.id)


def test_a_host_who_leaves_passes_it_on_to_the_first_person_who_sits() -> None:
    pure = PureRoom(seats=4)
    pure.say(HOST, "sit", seat=1)
    pure.say(HOST, "add_bot", seat=0)
    pure.say(CYD, "sit", seat=3)
    pure.say(BEN, "sit", seat=2)
    assert pure.say(HOST, "stand").commit.room == (SeatLeft(1), HostPassed(2))
    assert pure.refused(HOST, "start") == "not_host"
    pure.say(BEN, "remove_bot", seat=0)
    assert pure.say(BEN, "stand").commit.room == (SeatLeft(2), HostPassed(3))
    assert pure.say(CYD, "stand").commit.room == (SeatLeft(3),)
    pure.say(CYD, "add_bot", seat=0)


def test_whoever_is_not_the_host_leaves_without_passing_it_on() -> None:
    pure = PureRoom()
    pure.say(HOST, "sit")
    pure.say(BEN, "sit")
    assert pure.say(BEN, "stand").commit.room == (SeatLeft(1),)
    assert pure.room.table.host == HOST.id


# ready


def test_whoever_is_ready_may_take_it_back() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    assert pure.say(BEN, "ready").commit.room == (SeatReady(0, True),)
    assert held(pure, 0).ready
    assert pure.say(BEN, "ready", ready=False).commit.room == (SeatReady(0, False),)
    assert not held(pure, 0).ready


def test_a_nonce_that_comes_with_ready_replaces_the_one_before() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit", nonce=sealed_nonce(BEN))
    pure.say(BEN, "ready", nonce=sealed_nonce(BEN, 2))
    assert held(pure, 0).nonce_hash == nonce_hash(UID, nonce_of(BEN, 2))
    pure.say(BEN, "ready", ready=False)
    assert held(pure, 0).nonce_hash == nonce_hash(UID, nonce_of(BEN, 2))


@pytest.mark.parametrize("ready", [1, 0, "true", [], {}])
def test_ready_is_true_or_false(ready: object) -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    assert pure.refused(BEN, "ready", ready=ready) == "bad_command"


# start


def test_all_seats_must_be_taken_before_the_start() -> None:
    pure = PureRoom(seats=3)
    pure.say(HOST, "sit")
    pure.say(HOST, "add_bot")
    answer = pure.ask(HOST, {"command": "start"})
    assert answer == Rejected("seats_free", "P-53", {"seats": 3})


def test_all_persons_but_the_host_must_be_ready_before_the_start() -> None:
    pure = PureRoom()
    pure.say(HOST, "sit")
    pure.say(BEN, "sit")
    assert pure.refused(HOST, "start") == "not_ready"
    pure.say(BEN, "ready")
    pure.say(BEN, "ready", ready=False)
    assert pure.refused(HOST, "start") == "not_ready"
    pure.say(BEN, "ready")
    pure.say(HOST, "start")
    assert pure.room.playing


def test_a_host_without_a_seat_may_start() -> None:
    pure = PureRoom().seat_people(BEN, CYD, sealed=False)
    pure.say(HOST, "start")
    assert pure.room.playing


def test_bots_alone_may_play() -> None:
    pure = PureRoom().seat_people()
    pure.say(HOST, "start")
    assert pure.room.playing


def test_without_nonces_the_game_is_dealt_in_the_commit_that_seals_it() -> None:
    step = PureRoom().seat_people(ADA, BEN, sealed=False).say(HOST, "start")
    assert step.commit.room == (Sealed(1, (b"", b"")), Dealt(1))
    assert step.commit.game


def test_what_is_sealed_names_the_deal_and_all_hashes_by_seat() -> None:
    pure = PureRoom(seats=4)
    pure.say(BEN, "sit", seat=2, nonce=sealed_nonce(BEN))
    pure.say(ADA, "sit", seat=1)
    pure.say(CYD, "sit", seat=0, nonce=sealed_nonce(CYD))
    pure.say(HOST, "add_bot")
    for person in (BEN, CYD):
        pure.say(person, "ready")
    cyd = nonce_hash(UID, nonce_of(CYD))
    assert pure.say(HOST, "start").commit.room == (Sealed(1, (cyd, b"", HASH, b"")),)
    assert pure.room.table.status == "sealed"
    assert pure.room.game is None


# open


def test_a_nonce_is_opened_once_and_only_as_it_was_sealed() -> None:
    pure = sealed_room()
    assert pure.refused(BEN, "open", nonce=open_nonce(BEN, 2)) == "wrong_nonce"
    assert pure.refused(BEN, "open", nonce=open_nonce(ADA)) == "wrong_nonce"
    assert pure.refused(BEN, "open", nonce=sealed_nonce(BEN)) == "wrong_nonce"
    step = pure.say(BEN, "open", nonce=open_nonce(BEN))
    assert step.commit.room == (NonceOpened(1, nonce_of(BEN)),)
    assert pure.refused(BEN, "open", nonce=open_nonce(BEN)) == "already_open"
    assert pure.room.table.status == "sealed"


@pytest.mark.parametrize("nonce", BAD_NONCES, ids=ascii)
def test_a_nonce_that_is_none_opens_nothing(nonce: object) -> None:
    assert sealed_room().refused(BEN, "open", nonce=nonce) == "bad_command"


def test_whoever_sealed_nothing_has_nothing_to_open() -> None:
    assert sealed_room().refused(CYD, "open", nonce=open_nonce(CYD)) == "not_sealed"


def test_the_last_nonce_that_was_missing_deals_the_game_in_the_same_commit() -> None:
    pure = sealed_room()
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    step = pure.say(ADA, "open", nonce=open_nonce(ADA))
    assert step.commit.room == (NonceOpened(0, nonce_of(ADA)), Dealt(1))
    assert step.commit.game == pure.room.rules.setup(
        pure.room.rules.start(pure.room.table.options, 3, pure.room.game.seed)
    )


# a deal that is cancelled


def test_whoever_does_not_open_in_time_loses_the_seat_and_the_deal_is_off() -> None:
    pure = sealed_room()
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    step = pure.wait()
    assert step.commit.room == (DealCancelled(1, (0,)),)
    assert pure.room.table.seats[0] is None
    assert pure.room.table.status == "waiting"


def test_after_a_cancelled_deal_nobody_but_bots_is_ready_and_all_hashes_are_gone() -> None:
    pure = PureRoom(seats=3).seat_people(ADA, BEN)
    pure.say(HOST, "start")
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    pure.wait()
    assert pure.room.table.seats == (
        None,
        SeatHolder("Ben", BEN.id),
        SeatHolder("bot easy", level="easy", ready=True),
    )


def test_an_old_nonce_is_good_for_no_other_deal() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    pure.say(HOST, "start")
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    pure.wait()
    pure.say(ADA, "sit", nonce=sealed_nonce(ADA, 2))
    assert pure.refused(HOST, "start") == "not_ready"
    pure.say(BEN, "ready", nonce=sealed_nonce(BEN, 2))
    assert pure.say(HOST, "start").commit.room[0] == Sealed(
        2, tuple(nonce_hash(UID, nonce_of(person, 2)) for person in (ADA, BEN))
    )
    assert pure.refused(BEN, "open", nonce=open_nonce(BEN, 1)) == "wrong_nonce"


def test_whoever_brings_no_fresh_nonce_plays_without() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    pure.say(HOST, "start")
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    pure.wait()
    pure.say(ADA, "sit")
    pure.say(BEN, "ready")
    assert pure.say(HOST, "start").commit.room == (Sealed(2, (b"", b"")), Dealt(2))


# bots


@pytest.mark.parametrize("level", LEVELS)
def test_the_host_seats_bots_of_every_level(level: str) -> None:
    pure = PureRoom()
    assert pure.say(HOST, "add_bot", level=level, seat=1).commit.room == (BotSat(1, level),)
    assert held(pure, 1) == SeatHolder(f"bot {level}", level=level, ready=True)


def test_a_bot_without_a_level_is_easy_and_sits_at_the_lowest_free_seat() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit", seat=0)
    assert pure.say(HOST, "add_bot").commit.room == (BotSat(1, "easy"),)


@pytest.mark.parametrize("level", ["", "best", "random", 1, ["easy"], {"level": "easy"}])
def test_other_levels_are_refused(level: object) -> None:
    assert PureRoom().refused(HOST, "add_bot", level=level) == "bad_command"


def test_a_bot_needs_a_free_seat() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit", seat=0)
    assert pure.refused(HOST, "add_bot", seat=0) == "seat_taken"
    pure.say(HOST, "add_bot")
    assert pure.refused(HOST, "add_bot") == "room_full"


def test_a_bot_goes_as_it_came() -> None:
    pure = PureRoom()
    pure.say(HOST, "add_bot", seat=1)
    assert pure.say(HOST, "remove_bot", seat=1).commit.room == (SeatLeft(1),)
    assert pure.room.table.taken == 0


@pytest.mark.parametrize("seat", [0, 1])
def test_only_bots_can_be_removed(seat: int) -> None:
    pure = PureRoom()
    pure.say(BEN, "sit", seat=0)
    assert pure.refused(HOST, "remove_bot", seat=seat) == "seat_empty"
