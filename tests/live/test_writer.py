"""Attempts: which of them are moves, that is, need nothing of the store but its log."""

import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import ADA, BEN, PureRoom, accepted
from towerhall_server.eventlog.entry import COMMIT_ID_BYTES, Stamps
from towerhall_server.eventlog.shared import MOST_DOUBT_MS
from towerhall_server.live import node as node_module
from towerhall_server.live.follower import BACKSTOP_MS
from towerhall_server.live.node import ServiceClock
from towerhall_server.live.writer import Attempt, attempt_of
from towerhall_server.room import steps
from towerhall_server.room.steps import DAY_MS, Due, Step


def playing(turn_seconds: int = 0) -> PureRoom:
    pure = PureRoom(TILE_DUEL, turn_seconds=turn_seconds)
    return pure.seat_people(ADA, BEN, sealed=False).deal()


def tried(pure: PureRoom, step: Step, now_ms: int | None = None) -> Attempt:
    """The attempt of a node that knows the room's deadline and the clocks."""
    now = pure.now_ms if now_ms is None else now_ms
    return asked(pure, step, Stamps(1_700_000_000_000 + now, now), steps.due(pure.room))


def asked(pure: PureRoom, step: Step, clocks: Stamps, expected: Due | None) -> Attempt:
    commit_id = bytes(COMMIT_ID_BYTES)
    return attempt_of(pure.room, pure.point, step, commit_id, None, clocks, 0.0, expected)


def a_move(pure: PureRoom) -> Step:
    seat = pure.room.to_act()[0]
    return accepted(pure.ask(pure.holder(seat), pure.offered(seat, 0)))


def test_a_move_in_a_game_without_a_clock_needs_the_log_alone() -> None:
    pure = playing()
    attempt = tried(pure, a_move(pure))
    assert attempt.wanted.is_move
    due_ms = steps.deadline_ms(attempt.change.after) + BACKSTOP_MS
    assert attempt.wanted.due_at_ms == due_ms, "the whole script may have to answer"


def test_a_turn_clock_needs_the_whole_script() -> None:
    pure = playing(turn_seconds=30)
    assert not tried(pure, a_move(pure)).wanted.is_move


def test_the_first_move_of_a_day_moves_the_deadline() -> None:
    pure = playing()
    midnight = (pure.now_ms // DAY_MS + 1) * DAY_MS
    assert tried(pure, a_move(pure), midnight - 1).wanted.is_move
    later = tried(pure, a_move(pure), midnight)
    assert not later.wanted.is_move
    assert later.wanted.due_at_ms == midnight + DAY_MS + steps.ABANDONED_MS + BACKSTOP_MS


def test_a_change_that_the_lobby_shows_needs_the_whole_script() -> None:
    pure = playing()
    step = accepted(pure.ask(ADA, {"command": "want_end"}))
    assert step.after.table is not pure.room.table
    wanted = tried(pure, step).wanted
    assert not wanted.is_move
    assert wanted.summary is not None


def test_without_a_sure_clock_the_whole_script_looks_at_the_stamps() -> None:
    pure = playing()
    assert not asked(pure, a_move(pure), Stamps(0, 0), None).wanted.is_move


def test_the_end_of_a_game_needs_the_whole_script() -> None:
    pure = playing()
    moves = 0
    while pure.room.to_act():
        step = a_move(pure)
        is_end = step.after.table.status == "over"
        assert tried(pure, step).wanted.is_move == (not is_end)
        pure.append(step)
        moves += 1
    assert moves > 1


def test_a_clock_is_sure_for_some_seconds_after_the_store_has_told_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(node_module, "monotonic", lambda: now)
    service = ServiceClock()
    assert not service.is_sure(7)
    service.hear(7, Stamps(9_000, 70_000))
    assert service.is_sure(7)
    now += MOST_DOUBT_MS / 1000 - 0.1
    assert service.is_sure(7)
    now += 0.2
    assert not service.is_sure(7)
