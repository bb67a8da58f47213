"""Times that no honest store could have given: too fast, too early, too late."""

import random
from functools import cache

import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.record.record_games import (
    HOST,
    PEOPLE,
    STORIES,
    Tape,
    commits_of,
    deal,
    new_tape,
    seat_everybody,
    told,
)
from tests.record.tampering.forging import codes, delayed, first, has, record_of, replace
from towerhall_server.eventlog.entry import Stamps
from towerhall_server.record.timekeeping import FASTER_MS, LATE_MS
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.events import (
    BotStoodIn,
    DealCancelled,
    NonceOpened,
    RoomClosed,
    Settings,
    TimedOut,
)
from towerhall_server.room.steps import IDLE_MS, Errand, Plan

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
TIMED, DEALS = told(STORIES[0]), told(STORIES[1])
"""With a clock that ran out now and then; with bots and cancelled deals."""


def late(tape: Tape, seq: int, ms: int) -> set[str]:
    return codes(record_of(tape, delayed(tape.entries, seq, wall_ms=ms, served_ms=ms)))


def test_the_bounds_refuse_what_they_are_for() -> None:
    assert all(ms < 10 * MINUTE_MS for ms in LATE_MS.values())
    assert LATE_MS["open"] < MINUTE_MS
    assert FASTER_MS < 5_000, "the shortest time for a turn"


# Too fast


def test_a_time_out_after_ten_ms_of_wall_time_is_refused() -> None:
    seq, _ = first(TIMED, has(TimedOut))
    passed = TIMED.entries[seq - 1].stamps.wall_ms - TIMED.entries[seq - 2].stamps.wall_ms
    changed = delayed(TIMED.entries, seq, wall_ms=10 - passed)
    assert codes(record_of(TIMED, changed)) == {"clock"}


@pytest.mark.parametrize("seq", [2, 30, len(TIMED.entries)])
def test_service_time_that_runs_while_wall_time_stands_is_refused(seq: int) -> None:
    assert "clock" in codes(record_of(TIMED, delayed(TIMED.entries, seq, served_ms=HOUR_MS)))


def test_service_time_cannot_get_ahead_by_little_steps() -> None:
    entries = list(TIMED.entries)
    for seq in range(2, 40):
        entries = delayed(entries, seq, served_ms=900)
    assert "clock" in codes(record_of(TIMED, entries))


def test_service_time_may_get_ahead_by_what_stores_are_allowed() -> None:
    tape = new_tape(TILE_DUEL, 2)
    people = seat_everybody(tape, 2)
    deal(tape, people)
    tape.play_on()
    # Everything at once: nothing makes up for the lead.
    entries = [replace(one, stamps=Stamps(9, 9)) for one in tape.entries]
    seq = len(entries) // 2
    assert codes(record_of(tape, entries)) == set()
    assert codes(record_of(tape, delayed(entries, seq, served_ms=FASTER_MS))) == set()
    assert codes(record_of(tape, delayed(entries, seq, served_ms=FASTER_MS + 1))) == {"clock"}


def test_an_outage_in_which_the_service_clock_stood_is_believed() -> None:
    for seq in range(2, len(TIMED.entries), 20):
        assert codes(record_of(TIMED, delayed(TIMED.entries, seq, wall_ms=10 * HOUR_MS))) == set()


# Too late


@pytest.mark.parametrize("ms", [10 * MINUTE_MS, HOUR_MS])
@pytest.mark.parametrize(
    ("tape", "kind"), [(TIMED, TimedOut), (DEALS, DealCancelled)], ids=["turn", "deal"]
)
def test_what_the_room_does_ten_minutes_late_is_refused(
    tape: Tape, kind: type[object], ms: int
) -> None:
    seq, _ = first(tape, has(kind))
    assert late(tape, seq, ms) == {"late"}


def test_a_bot_that_moves_ten_minutes_late_is_refused() -> None:
    seq, _ = first(DEALS, lambda commit: not commit.cause.n and commit.cause.seat >= 0)
    assert late(DEALS, seq, 10 * MINUTE_MS) == {"late"}


def test_a_person_who_moves_ten_minutes_after_their_time_is_refused() -> None:
    """The room owed them a time-out: who runs it gave one player more time than the others."""
    moves = [
        seq
        for seq, commit in enumerate(commits_of(TIMED), start=1)
        if commit.cause.n and commit.game and seq > 20
    ]
    assert late(TIMED, moves[0], 10 * MINUTE_MS) == {"late"}


def test_a_nonce_that_is_opened_a_minute_late_is_refused() -> None:
    seq, _ = first(DEALS, has(NonceOpened))
    assert late(DEALS, seq, 60_000) == {"late"}
    assert late(DEALS, seq, 9_000) == set()


def test_a_room_that_is_given_up_ten_minutes_late_is_refused() -> None:
    tape = new_tape(TILE_DUEL, 2)
    tape.say(HOST, "sit")
    tape.append(abandon_step(tape.room), tape.room.served_ms + IDLE_MS)
    (seq,) = (seq for seq, one in enumerate(commits_of(tape), 1) if has(RoomClosed)(one))
    assert codes(tape.record()) == set()
    assert late(tape, seq, LATE_MS["close"]) == set()
    assert late(tape, seq, LATE_MS["close"] + 1) == {"late"}


@pytest.mark.parametrize(("tape", "kind", "errand"), [
    (TIMED, TimedOut, "turn"), (DEALS, DealCancelled, "open"),
])  # fmt: skip
def test_lateness_is_judged_to_the_millisecond(
    tape: Tape, kind: type[object], errand: Errand
) -> None:
    """Tapes act up to two ms after the time."""
    most = LATE_MS[errand]
    seq, _ = first(tape, has(kind))
    assert late(tape, seq, most - 2) == set()
    assert late(tape, seq, most + 1) == {"late"}


def test_the_last_act_of_a_room_of_lazy_nodes_is_believed() -> None:
    """Every act of the room comes a minute late, as where many rooms wait for a search."""
    entries = list(TIMED.entries)
    for seq, commit in enumerate(commits_of(TIMED), start=1):
        if not commit.cause.n and commit.cause.seat >= 0:
            entries = delayed(entries, seq, wall_ms=MINUTE_MS, served_ms=MINUTE_MS)
    assert codes(record_of(TIMED, entries)) == set()


@cache
def left_alone() -> Tape:
    """A game without a clock, in which a person thinks for two hours and then leaves."""
    tape = new_tape(TILE_DUEL, 2)
    deal(tape, seat_everybody(tape, 2))
    tape.pass_time(2 * HOUR_MS)
    tape.say(PEOPLE[tape.room.to_act()[0]], "leave")
    tape.play_on()
    return tape


def test_a_bot_that_takes_over_after_hours_is_not_late_with_its_first_move() -> None:
    tape = left_alone()
    assert codes(tape.record()) == set()
    seq, _ = first(tape, has(BotStoodIn))
    assert late(tape, seq + 1, 10 * MINUTE_MS) == {"late"}


def test_other_commits_meanwhile_give_a_room_no_more_time() -> None:
    settings = Settings(turn_seconds=20, bot_delay_ms=300)
    plan = Plan(TILE_DUEL, TILE_DUEL.presets["standard"], 2, settings, HOST.id)
    tape = Tape(plan, random.Random(3))
    people = seat_everybody(tape, 2)
    deal(tape, people)
    for number in range(4):
        tape.say(HOST, "want_end", wanted=number % 2 == 0)
        tape.pass_time(2 * MINUTE_MS)
    tape.wait()
    tape.play_on()
    assert codes(tape.record()) == {"late"}
