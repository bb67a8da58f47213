"""Before, during and after a game: kicking, other options, going, coming back, playing again."""

from typing import Any

import msgspec
import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import (
    ADA,
    BEN,
    CYD,
    DORA,
    HOST,
    REMATCH,
    SECRET,
    UID,
    ZOE,
    PureRoom,
    open_nonce,
    sealed_nonce,
)
from towerhall_server.game import Rejected, Result
from towerhall_server.room import during, steps
from towerhall_server.room.closing import close_step
from towerhall_server.room.events import (
    BotStoodIn,
    EndWanted,
    GameOver,
    HostPassed,
    OptionsChanged,
    RoomClosed,
    SeatKicked,
    SeatResigned,
    SeatWoke,
    SecretRevealed,
    TimedOut,
)
from towerhall_server.room.rematch import rematch_plan
from towerhall_server.room.seats import Known, read_settings
from towerhall_server.room.steps import found
from towerhall_server.room.table import SeatHolder, fold_table
from towerhall_server.room.view import SHARED, describe, shown_cause, view


def held(pure: PureRoom, seat: int) -> SeatHolder:
    holder = pure.room.table.seats[seat]
    assert holder is not None
    return holder


def kinds(pure: PureRoom) -> list[str]:
    """The events of the last commit around its game."""
    commit = pure.answers[-1][1]
    assert not isinstance(commit, Rejected)
    return [type(event).__name__ for event in (*commit.commit.room, *commit.commit.end)]


def shown(pure: PureRoom) -> dict[str, Any]:
    document: Any = view(pure.room, SHARED)["room"]
    return dict(document)


def playing(*people: Any, seats: int = 2, turn_seconds: int = 0) -> PureRoom:
    pure = PureRoom(TILE_DUEL, seats, turn_seconds=turn_seconds)
    return pure.seat_people(*people, sealed=False).deal()


# Before


def test_a_kicked_person_loses_the_seat_and_may_only_watch() -> None:
    pure = PureRoom(seats=3).seat_people(ADA, BEN, sealed=False)
    step = pure.say(HOST, "kick", seat=1)
    assert step.commit.room == (SeatKicked(1),)
    assert pure.room.table.seats[1] is None
    assert pure.refused(BEN, "sit") == "kicked"
    assert pure.refused(BEN, "sit", seat=1) == "kicked"
    pure.say(CYD, "sit", seat=1)
    assert BEN.id not in repr(view(pure.room, SHARED))


def test_whoever_was_kicked_as_a_host_of_old_cannot_sit_either() -> None:
    pure = PureRoom(seats=3).seat_people(ADA, BEN, sealed=False)
    pure.append(steps.pass_host_step(pure.room, 1))
    pure.say(BEN, "kick", seat=0)
    assert pure.refused(ADA, "sit") == "kicked"
    assert pure.refused(ADA, "kick", seat=1) == "not_host"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"seat": 0}, "own_seat"),
        ({"seat": 1}, "seat_empty"),
        ({"seat": 2}, "seat_empty"),
        ({"seat": 3}, "no_such_seat"),
        ({"seat": "0"}, "bad_command"),
        ({"seat": True}, "bad_command"),
    ],
)
def test_only_others_who_sit_can_be_kicked(fields: dict[str, Any], code: str) -> None:
    pure = PureRoom(seats=3)
    pure.say(ADA, "sit", seat=0)
    pure.say(ADA, "add_bot", seat=1)
    assert pure.refused(ADA, "kick", **fields) == code


def test_other_options_need_everybodys_agreement_anew_and_keep_their_nonces() -> None:
    pure = PureRoom(seats=3).seat_people(ADA, BEN)
    step = pure.say(HOST, "set_options", options={"preset": "printed"}, turn_seconds=3600)
    assert isinstance(step.commit.room[0], OptionsChanged)
    assert [held(pure, seat).ready for seat in range(3)] == [False, False, True]
    assert pure.refused(HOST, "start") == "not_ready"
    assert shown(pure)["turn_seconds"] == 3600
    assert shown(pure)["options"] == msgspec.to_builtins(pure.room.rules.presets["printed"])
    pure.say(BEN, "ready")
    pure.deal()
    assert pure.room.playing
    assert held(pure, 1).nonce


def test_what_is_not_named_stays_as_it_is() -> None:
    pure = PureRoom(turn_seconds=60, bot_delay_ms=5)
    before = pure.room.table
    pure.say(HOST, "set_options", bot_delay_ms=0)
    assert pure.room.table.settings == msgspec.structs.replace(before.settings, bot_delay_ms=0)
    assert pure.room.table.options == before.options
    pure.say(HOST, "set_options", options={})
    assert pure.room.table.settings.turn_seconds == 60


@pytest.mark.parametrize(
    "fields",
    [
        {"options": {"preset": "no such"}},
        {"options": {"no_such": 1}},
        {"options": 7},
        {"options": []},
        {"turn_seconds": "60"},
        {"turn_seconds": True},
        {"turn_seconds": 4},
        {"turn_seconds": 601},
        {"turn_seconds": 3599},
        {"turn_seconds": 14 * 86_400 + 1},
        {"turn_seconds": -1},
        {"bot_delay_ms": 10_001},
        {"bot_delay_ms": -1},
    ],
)
def test_options_that_do_not_exist_are_refused_and_change_nothing(fields: dict[str, Any]) -> None:
    pure = PureRoom(seats=3).seat_people(ADA, BEN, sealed=False)
    assert pure.refused(HOST, "set_options", **fields) == "bad_options"
    assert held(pure, 1).ready


@pytest.mark.parametrize("seconds", [0, 5, 600, 3600, 86_400, 14 * 86_400])
def test_clocks_are_off_for_a_sitting_or_for_days(seconds: int) -> None:
    settings = read_settings({"turn_seconds": seconds})
    assert not isinstance(settings, Rejected)
    assert settings.turn_seconds == seconds


def test_a_clock_of_days_counts_service_time_and_is_shown_as_a_moment() -> None:
    pure = playing(ADA, BEN, turn_seconds=14 * 86_400)
    due = steps.deadline_ms(pure.room)
    assert view(pure.room, SHARED)["clock"] == {"due": due}
    assert due == pure.room.began_ms + 14 * 86_400_000
    pure.wait()
    assert kinds(pure) == ["TimedOut"]


def test_a_host_who_stands_up_leaves_the_powers_to_the_first_other_person() -> None:
    pure = PureRoom(seats=3)
    for person in (ADA, BEN, CYD):
        pure.say(person, "sit")
    assert pure.say(ADA, "stand").commit.room[-1] == HostPassed(1)
    assert pure.refused(ADA, "start") == "not_host"
    pure.say(BEN, "add_bot")


def test_a_host_without_anybody_else_stays_host() -> None:
    pure = PureRoom(seats=3)
    pure.say(ADA, "sit")
    pure.say(ADA, "add_bot")
    pure.say(ADA, "stand")
    assert pure.room.table.host == ADA.id
    assert "host" not in shown(pure)


# Reserved seats, quick rooms


def test_a_reserved_seat_is_for_whom_it_is_reserved() -> None:
    pure = PureRoom(seats=3, reserved=(BEN.id, "", ADA.id))
    assert shown(pure)["reserved"] == [0, 2]
    assert pure.refused(CYD, "sit", seat=0) == "seat_reserved"
    pure.say(CYD, "sit")
    assert pure.room.table.seated.get(CYD.id) == 1
    assert pure.refused(ZOE, "sit") == "seat_reserved"
    pure.say(ADA, "sit")
    assert pure.room.table.seated.get(ADA.id) == 2
    assert BEN.id not in repr(view(pure.room, SHARED))


def test_whoever_takes_another_seat_gives_the_reserved_one_up_for_so_long() -> None:
    pure = PureRoom(seats=3, reserved=(BEN.id, "", ""))
    pure.say(BEN, "sit", seat=1)
    assert shown(pure)["reserved"] == []
    pure.say(BEN, "stand")
    assert shown(pure)["reserved"] == [0]
    assert pure.refused(CYD, "sit", seat=0) == "seat_reserved"
    pure.say(BEN, "sit", seat=2)
    pure.say(CYD, "sit", seat=0)
    pure.say(BEN, "stand")
    assert shown(pure)["reserved"] == []
    pure.say(BEN, "sit")
    assert pure.room.table.seated.get(BEN.id) == 1


def test_a_seat_is_not_reserved_for_whoever_was_kicked() -> None:
    pure = PureRoom(seats=2, reserved=(BEN.id, ""))
    pure.say(BEN, "sit")
    assert shown(pure)["reserved"] == [0]
    pure.say(HOST, "kick", seat=0)
    assert shown(pure)["reserved"] == []
    pure.say(CYD, "sit", seat=0)
    assert pure.room.table.seated.get(CYD.id) == 0


def test_a_bot_may_be_seated_where_somebody_is_awaited() -> None:
    pure = PureRoom(seats=2, reserved=(BEN.id, ""))
    pure.say(CYD, "sit")
    pure.say(HOST, "add_bot")
    assert held(pure, 0).is_bot
    assert shown(pure)["reserved"] == []


def test_a_bot_is_seated_where_nobody_is_awaited_unless_the_host_says_so() -> None:
    pure = PureRoom(seats=3, reserved=(BEN.id, "", ""))
    pure.say(HOST, "add_bot")
    pure.say(HOST, "add_bot")
    assert pure.room.table.free_seats() == (0,)
    pure.say(HOST, "add_bot")
    assert pure.refused(BEN, "sit") == "room_full"


def test_bots_can_be_there_from_the_beginning() -> None:
    pure = PureRoom(seats=3, bots=("", "hard", "easy"))
    assert [held(pure, seat).level for seat in (1, 2)] == ["hard", "easy"]
    pure.say(ADA, "sit")
    pure.say(ADA, "start")
    assert pure.room.playing


def test_a_quick_room_starts_as_soon_as_everybody_is_ready() -> None:
    pure = PureRoom(seats=2, quick=True)
    assert shown(pure)["quick"] is True
    pure.say(ADA, "sit")
    pure.say(ADA, "ready")
    pure.say(BEN, "sit", nonce=sealed_nonce(BEN))
    assert shown(pure)["status"] == "waiting"
    pure.say(BEN, "ready")
    assert shown(pure)["status"] == "sealed"
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    assert pure.room.playing


def test_the_last_bot_starts_a_quick_room_as_well() -> None:
    pure = PureRoom(seats=2, quick=True)
    pure.say(BEN, "sit")
    pure.say(BEN, "ready")
    assert pure.say(HOST, "add_bot").commit.game
    assert pure.room.playing


# During


def test_a_bot_plays_for_whoever_leaves_until_they_take_the_seat_back() -> None:
    pure = playing(ADA, BEN)
    seat = pure.room.to_act()[0]
    person = pure.holder(seat)
    tag = pure.room.tag
    assert steps.due(pure.room).errand == "close"
    pure.say(person, "leave", level="hard")
    assert shown(pure)["seats"][str(seat)]["stand_in"] == "hard"
    assert shown(pure)["seats"][str(seat)]["name"] == person.name
    assert steps.due(pure.room).errand == "bot"
    assert pure.refused(person, "roll") == "bot_plays"
    assert pure.refused(person, "leave") == "bot_plays"
    assert pure.refused(person, "want_end") == "bot_plays"
    pure.say(person, "take_back")
    assert pure.room.tag == tag, "the decision is the same"
    assert "stand_in" not in shown(pure)["seats"][str(seat)]
    assert steps.due(pure.room).errand == "close"
    assert pure.refused(person, "take_back") == "no_bot_plays"
    pure.play_on()
    assert pure.room.table.result is not None


def test_the_moves_of_a_stand_in_are_the_services_and_marked_as_such() -> None:
    pure = playing(ADA, BEN)
    seat = pure.room.to_act()[0]
    pure.say(pure.holder(seat), "leave")
    step = pure.wait()
    assert shown_cause(step.commit.cause) == (seat,)


def test_a_level_that_does_not_exist_does_not_play() -> None:
    pure = playing(ADA, BEN)
    assert pure.refused(ADA, "leave", level="best") == "bad_command"
    assert pure.refused(ADA, "leave", level=["easy"]) == "bad_command"


def test_without_a_clock_a_bot_is_called_for_whoever_is_absent() -> None:
    pure = playing(ADA, BEN)
    assert pure.refused(ADA, "call_bot", seat=1) == "not_absent"
    pure.known = Known(absent=(1,))
    assert pure.say(ADA, "call_bot", seat=1).commit.room == (BotStoodIn(1, "medium"),)
    assert pure.refused(ADA, "call_bot", seat=1) == "bot_plays"
    pure.say(BEN, "take_back")
    assert held(pure, 1).stand_in == ""


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "bad_command"),
        ({"seat": "1"}, "bad_command"),
        ({"seat": 9}, "no_such_seat"),
        ({"seat": 2}, "bot_plays"),
        ({"seat": 0}, "not_absent"),
    ],
)
def test_a_bot_is_called_for_a_person_by_seat(fields: dict[str, Any], code: str) -> None:
    assert playing(ADA, BEN, seats=3).refused(ADA, "call_bot", **fields) == code


def timed_out(pure: PureRoom, seat: int, times: int) -> None:
    """Everybody else moves; that seat lets its time run out."""
    while held(pure, seat).timeouts < times:
        if pure.room.to_act()[0] == seat:
            pure.wait()
        else:
            pure.play_on(1)


def test_with_a_clock_for_one_sitting_absence_counts_before_the_time_runs_out() -> None:
    pure = playing(ADA, BEN, turn_seconds=600)
    assert pure.refused(ADA, "call_bot", seat=1) == "not_absent"
    pure.known = Known(absent=(1,))
    pure.say(ADA, "call_bot", seat=1)
    assert held(pure, 1).stand_in == "medium"


def test_by_correspondence_timeouts_in_a_row_count_and_not_absence() -> None:
    pure = playing(ADA, BEN, turn_seconds=3600)
    pure.known = Known(absent=(1,))
    timed_out(pure, 1, 1)
    assert pure.refused(ADA, "call_bot", seat=1) == "not_absent"
    timed_out(pure, 1, 2)
    assert shown(pure)["seats"]["1"]["timeouts"] == 2
    pure.say(ADA, "call_bot", seat=1)
    assert held(pure, 1).stand_in == "medium"


def test_a_move_begins_the_count_anew() -> None:
    pure = playing(ADA, BEN, turn_seconds=20)
    timed_out(pure, 1, 2)
    while pure.room.to_act()[0] != 1:
        pure.play_on(1)
    pure.play_on(1)
    assert "SeatWoke" in kinds(pure)
    assert held(pure, 1).timeouts == 0
    assert SeatWoke(1) in pure.answers[-1][1].commit.room  # type: ignore[union-attr]


def test_after_three_timeouts_in_a_row_a_bot_comes_by_itself() -> None:
    pure = playing(ADA, BEN, turn_seconds=20)
    timed_out(pure, 1, 3)
    assert kinds(pure)[:2] == ["TimedOut", "BotStoodIn"]
    assert held(pure, 1).stand_in == "medium"
    pure.say(BEN, "take_back")
    assert (held(pure, 1).stand_in, held(pure, 1).timeouts) == ("", 0)


def test_whoever_resigns_is_last_whatever_the_bot_in_their_seat_achieves() -> None:
    pure = playing(ADA, BEN, CYD, seats=3)
    pure.say(BEN, "resign")
    assert shown(pure)["seats"]["1"]["resigned"] is True
    assert pure.refused(BEN, "take_back") == "resigned"
    assert pure.refused(BEN, "resign") == "resigned"
    pure.play_on()
    result, table = TILE_DUEL.result(pure.room.game), pure.room.table
    assert result is not None
    assert table.result is not None
    assert table.result.scores == result.scores
    assert table.result.places[1] == 3


@pytest.mark.parametrize(
    ("places", "resigned", "expected"),
    [
        ((1, 2, 3), (0,), (3, 1, 2)),
        ((1, 1, 3), (0,), (3, 1, 2)),
        ((1, 1, 3), (0, 1), (2, 2, 1)),
        ((2, 1, 3), (0, 1, 2), (2, 1, 3)),
        ((3, 1, 1), (0,), (3, 1, 1)),
        ((2, 3, 1), (), (2, 3, 1)),
    ],
)
def test_places_with_those_who_resigned_behind(
    places: tuple[int, ...], resigned: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    table = PureRoom(TILE_DUEL, 3).seat_people(ADA, BEN, CYD, sealed=False).deal().room.table
    for seat in resigned:
        table = fold_table(table, SeatResigned(seat, "medium"))
    found = during.places(Result((0, 0, 0), places), table)
    assert found == expected


def test_the_game_ends_when_all_who_still_play_agree() -> None:
    pure = playing(ADA, BEN, CYD, seats=4)
    pure.say(ADA, "want_end")
    assert shown(pure)["seats"]["0"]["wants_end"] is True
    pure.say(ADA, "want_end", wanted=False)
    pure.say(BEN, "want_end")
    pure.say(CYD, "want_end")
    assert pure.room.playing
    step = pure.say(ADA, "want_end")
    agreed = (EndWanted(0, True), RoomClosed("agreed"), SecretRevealed(SECRET))
    assert step.commit.room == agreed
    assert shown(pure)["closed"] == "agreed"
    assert "secret" in shown(pure)
    assert pure.room.table.result is None
    assert not any(isinstance(event, GameOver) for event in step.commit.end)


@pytest.mark.parametrize("command", ["leave", "resign"])
def test_who_has_gone_is_not_asked_whether_to_end(command: str) -> None:
    pure = playing(ADA, BEN, CYD, seats=3)
    pure.say(ADA, "want_end")
    pure.say(BEN, "want_end")
    pure.say(CYD, command)
    assert pure.room.table.closed == "agreed"


def test_who_went_by_the_clock_is_not_asked_either() -> None:
    pure = playing(ADA, BEN, turn_seconds=20)
    timed_out(pure, 1, 2)
    pure.say(ADA, "want_end")
    while pure.room.playing:
        if pure.room.to_act()[0] == 1:
            pure.wait()
        else:
            pure.play_on(1)
    assert pure.room.table.closed == "agreed"
    assert kinds(pure) == ["TimedOut", "BotStoodIn", "RoomClosed", "SecretRevealed"]
    assert TimedOut(1) in pure.answers[-1][1].commit.room  # type: ignore[union-attr]


def test_a_game_among_bots_alone_goes_on_to_its_end() -> None:
    pure = playing(ADA, BEN, CYD, seats=3)
    pure.say(ADA, "leave")
    pure.say(CYD, "leave")
    pure.say(BEN, "resign")
    assert pure.room.playing
    pure.play_on()
    assert pure.room.table.result is not None
    assert pure.room.table.result.places[1] == 3


def test_a_wish_that_is_no_yes_or_no_is_refused() -> None:
    assert playing(ADA, BEN).refused(ADA, "want_end", wanted=1) == "bad_command"


# After


def test_a_rematch_is_linked_both_ways_with_seats_rotated_by_one() -> None:
    pure = playing(ADA, BEN, CYD, seats=4).play_on()
    pure.say(BEN, "rematch")
    assert shown(pure)["rematch"] == REMATCH
    plan = rematch_plan(pure.room, BEN.id, {})
    room = found(plan, REMATCH, UID, SECRET).after
    assert room.table.previous == pure.room.table.code
    assert room.table.host == BEN.id
    assert room.table.reserved == ("", ADA.id, BEN.id, CYD.id)
    first = room.table.seats[0]
    assert first is not None
    assert first.level == "easy"
    assert room.table.key_hash == pure.room.table.key_hash
    assert (room.table.options, room.table.settings) == (
        pure.room.table.options,
        pure.room.table.settings,
    )
    assert room.table.taken == 1


def test_there_is_one_rematch_and_whoever_asks_again_is_told_where() -> None:
    pure = playing(ADA, BEN).play_on()
    pure.say(ADA, "rematch")
    answer = pure.ask(BEN, {"command": "rematch"})
    assert answer == Rejected("rematch_made", "P-59", {"room": REMATCH})
    assert pure.refused(DORA, "rematch") == "not_seated"


def test_one_in_which_nobody_can_play_any_more_gives_way_to_another() -> None:
    pure = playing(ADA, BEN).play_on()
    pure.say(ADA, "rematch")
    pure.known = Known(rematch="SECOND", spent=REMATCH)
    pure.say(BEN, "rematch")
    assert shown(pure)["rematch"] == "SECOND"
    # Somebody else has found out the same, and comes later.
    answer = pure.ask(ADA, {"command": "rematch"})
    assert answer == Rejected("rematch_made", "P-59", {"room": "SECOND"})


def test_a_room_that_was_closed_can_be_played_again_too() -> None:
    pure = PureRoom(seats=3)
    pure.say(ADA, "sit", seat=1)
    pure.append(close_step(pure.room, "maintenance", "service"))
    pure.say(ADA, "rematch")
    assert rematch_plan(pure.room, ADA.id, {}).reserved == ("", "", ADA.id)


def test_a_list_shows_nothing_of_whom_seats_are_kept_for() -> None:
    pure = PureRoom(seats=2, reserved=(BEN.id, ADA.id))
    assert BEN.id not in repr(describe(pure.room.table))
